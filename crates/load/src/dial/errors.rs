//! Translates errors of the AMQP client to [`LoadError`].

use std::io;

use rabbitscope_amqp::{ConnectionError, Uri, blocking::ClientError};

use crate::error::LoadError;

/// The error of a connection that did not open.
pub(crate) fn dial_error(uri: &Uri, error: ClientError) -> LoadError {
    let address = uri.address();
    match error {
        ClientError::Connection(ConnectionError::AuthenticationRefused(refusal)) => {
            LoadError::AuthenticationRefused { address, user: uri.user.clone(), text: refusal.text }
        }
        ClientError::Connection(ConnectionError::VhostRefused(refusal)) => {
            LoadError::VhostRefused { address, vhost: uri.vhost.clone(), text: refusal.text }
        }
        ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            LoadError::Refused { address, doing: "the connection".to_owned(), text: refusal.text }
        }
        ClientError::Connect { source, .. } if is_about_certificate(&source) => {
            LoadError::NotTrusted { address, reason: source.to_string() }
        }
        ClientError::Connect { source, .. } => {
            LoadError::Unreachable { address, reason: source.to_string() }
        }
        error => LoadError::Unreachable { address, reason: error.to_string() },
    }
}

/// The broker did not prove who it is.
fn is_about_certificate(error: &io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// The error of a request on an open connection. `doing` names the request.
pub(crate) fn request_error(uri: &Uri, doing: &str, error: ClientError) -> LoadError {
    let (address, doing) = (uri.address(), doing.to_owned());
    match error {
        ClientError::Channel(refusal)
        | ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            LoadError::Refused { address, doing, text: refusal.text }
        }
        error => LoadError::Broken { address, doing, reason: error.to_string() },
    }
}
