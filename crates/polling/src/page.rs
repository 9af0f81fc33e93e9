//! The page that a group of pollers requests, and the reading of an answer.

use std::{
    fmt,
    io::{self, Read},
    sync::Arc,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use rabbitscope_runs::scenario::PollerGroup;
use thiserror::Error;
use ureq::{
    Agent,
    tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem},
};

use super::statistics::Answer;

/// Reason why pollers cannot request a page.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PageError {
    /// The file with the authorities contains no certificate.
    #[error("{file} contains no certificate in PEM format")]
    NoCertificate {
        /// Name of the file.
        file: String,
    },
    /// The system has no trust store, or it is empty.
    #[error("this system has no trusted authorities; give a PEM file with `ca`")]
    NoAuthorities,
}

/// A page that pollers request. Its authorization never appears in output.
#[derive(Clone)]
pub struct Page {
    pub(super) name: String,
    /// The complete URL, without credentials.
    pub(super) url: String,
    pub(super) count: u32,
    pub(super) interval: Duration,
    timeout: Duration,
    authorization: Option<String>,
    tls: TlsConfig,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Page({} {})", self.name, self.url)
    }
}

impl Page {
    /// Creates the page of a group from its complete URL. `login` is user and password. `authorities` are the contents
    /// of the file that the group names, if any.
    pub fn new(
        group: &PollerGroup,
        url: String,
        login: Option<(&str, &str)>,
        authorities: &[u8],
    ) -> Result<Self, PageError> {
        let tls = if url.starts_with("https://") {
            tls(group, authorities)?
        } else {
            TlsConfig::default()
        };
        let authorization = login.map(|(user, password)| {
            format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
        });
        Ok(Self {
            name: group.name.clone(),
            url,
            count: group.count,
            interval: group.interval,
            timeout: group.timeout,
            authorization,
            tls,
        })
    }

    /// Returns a client with its own connection.
    pub(super) fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(1)
            .user_agent(concat!("rabbitscope/", env!("CARGO_PKG_VERSION")))
            .tls_config(self.tls.clone())
            .build();
        Agent::new_with_config(config)
    }

    /// Sends one request and reads the whole answer through the buffer `room`.
    pub(super) fn ask(&self, agent: &Agent, room: &mut [u8]) -> Answer {
        let request = agent.get(&self.url);
        let request = match &self.authorization {
            Some(authorization) => request.header("Authorization", authorization),
            None => request,
        };
        let mut response = request.call().map_err(|error| cause(&error))?;
        let status = response.status().as_u16();
        let mut body = response.body_mut().as_reader();
        let mut bytes = 0;
        loop {
            match body.read(room) {
                Ok(0) => return Ok((status, bytes)),
                Ok(count) => bytes += count as u64,
                Err(error) => return Err(cause(&ureq::Error::from(error))),
            }
        }
    }
}

fn tls(group: &PollerGroup, authorities: &[u8]) -> Result<TlsConfig, PageError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    if group.insecure {
        return Ok(builder.disable_verification(true).build());
    }
    let certificates: Vec<Certificate<'static>> = if let Some(file) = &group.ca {
        let found = certificates(authorities);
        if found.is_empty() {
            return Err(PageError::NoCertificate { file: file.clone() });
        }
        found
    } else {
        let found = rustls_native_certs::load_native_certs().certs;
        if found.is_empty() {
            return Err(PageError::NoAuthorities);
        }
        found.iter().map(|one| Certificate::from_der(one).to_owned()).collect()
    };
    Ok(builder.root_certs(RootCerts::new_with_certs(&certificates)).build())
}

fn certificates(pem: &[u8]) -> Vec<Certificate<'static>> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    parse_pem(pem).filter_map(certificate).collect()
}

/// Returns the cause of a failure in a few words, so that failures can be counted per cause.
fn cause(error: &ureq::Error) -> &'static str {
    match error {
        ureq::Error::Timeout(_) => "timeout",
        ureq::Error::HostNotFound => "host not found",
        ureq::Error::ConnectionFailed => "no connection",
        ureq::Error::Tls(_) => "TLS",
        ureq::Error::Rustls(error) => tls_cause(error),
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => "not HTTP (a port for https://?)",
        ureq::Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(error) => tls_cause(error),
            None => io_cause(error.kind()),
        },
        _ => "other",
    }
}

fn tls_cause(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidMessage(_) => "no TLS there (a port for http://?)",
        rustls::Error::InvalidCertificate(_) => "certificate not accepted (set `ca`)",
        _ => "TLS",
    }
}

fn io_cause(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind;
    match kind {
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "connection reset",
        ErrorKind::UnexpectedEof => "connection closed",
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "timeout",
        _ => "input or output",
    }
}

#[cfg(test)]
mod tests {
    use rustls::{CertificateError, InvalidMessage};

    use super::*;

    #[test]
    fn a_wrong_port_is_named_as_such() {
        fn check(error: rustls::Error, expected: &str) {
            let inside = ureq::Error::Io(io::Error::other(error.clone()));
            for error in [ureq::Error::Rustls(error), inside] {
                assert!(cause(&error).contains(expected), "{}", cause(&error));
            }
        }
        let no_tls = InvalidMessage::InvalidContentType;
        check(rustls::Error::InvalidMessage(no_tls), "http://");
        check(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer), "`ca`");
        let refused = ureq::Error::Io(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(cause(&refused), "connection refused");
    }
}
