//! Conversion of the AMQP client's errors to [`TopologyError`].

use std::io;

use rabbitscope_amqp::{ConnectionError, Uri, blocking::ClientError};

use crate::error::TopologyError;

/// Converts the error of a connection that did not open.
pub fn dial_error(uri: &Uri, error: ClientError) -> TopologyError {
    let address = uri.address();
    match error {
        ClientError::Connection(error) => login_error(uri, error),
        ClientError::Connect { source, .. } if speaks_no_tls(&source) => {
            TopologyError::SpeaksNoTls { address }
        }
        ClientError::Connect { source, .. } if is_about_certificate(&source) => {
            TopologyError::NotTrusted { address, reason: certificate_fault(&source) }
        }
        ClientError::Connect { source, .. } => {
            TopologyError::Unreachable { address, reason: source.to_string() }
        }
        error @ ClientError::Eof => {
            TopologyError::SpeaksNoAmqp { address, reason: error.to_string() }
        }
        error => TopologyError::Unreachable { address, reason: error.to_string() },
    }
}

/// First bytes of TLS records: an alert and a handshake.
const TLS_RECORDS: [u8; 2] = [21, 22];

/// Converts the error of a server that answered but refused the login.
fn login_error(uri: &Uri, error: ConnectionError) -> TopologyError {
    let address = uri.address();
    match error {
        ConnectionError::AuthenticationRefused(refusal) => {
            let user = uri.user.clone();
            TopologyError::AuthenticationRefused { address, user, refusal: refusal.into() }
        }
        ConnectionError::VhostRefused(refusal) => {
            let vhost = uri.vhost.clone();
            TopologyError::VhostRefused { address, vhost, refusal: refusal.into() }
        }
        ConnectionError::ClosedByBroker(refusal) => {
            let doing = "the connection".to_owned();
            TopologyError::Refused { address, doing, refusal: refusal.into() }
        }
        ConnectionError::FrameType(kind) if TLS_RECORDS.contains(&kind) && !uri.is_tls => {
            TopologyError::SpeaksTls { address }
        }
        error if is_other_protocol(&error) => {
            TopologyError::SpeaksNoAmqp { address, reason: error.to_string() }
        }
        error => TopologyError::Unreachable { address, reason: error.to_string() },
    }
}

/// Returns whether the received bytes are no AMQP 0-9-1.
fn is_other_protocol(error: &ConnectionError) -> bool {
    use ConnectionError::{FrameEnd, FrameTooLarge, FrameType, Malformed, Version};
    matches!(
        error,
        Version { .. } | FrameTooLarge { .. } | FrameType(_) | FrameEnd(_) | Malformed { .. }
    )
}

/// Returns whether the answer to a TLS hello is no TLS.
fn speaks_no_tls(error: &io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::InvalidMessage(_)))
}

/// Describes the fault of a certificate. Its last cause would otherwise appear under the library's internal name.
fn certificate_fault(error: &io::Error) -> String {
    let text = error.to_string();
    if text.contains("CaUsedAsEndEntity") {
        return "it is the certificate of an authority, not of a server".to_owned();
    }
    text
}

/// Returns whether the broker's certificate was found invalid.
fn is_about_certificate(error: &io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// Converts the error of a request on an open connection. `doing` names the request.
pub fn request_error(uri: &Uri, doing: &str, error: ClientError) -> TopologyError {
    let (address, doing) = (uri.address(), doing.to_owned());
    match error {
        ClientError::Refused(refusal)
        | ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            TopologyError::Refused { address, doing, refusal: refusal.into() }
        }
        error => TopologyError::Broken { address, doing, reason: error.to_string() },
    }
}
