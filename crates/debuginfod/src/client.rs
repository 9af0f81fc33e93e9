//! One request to one server, written to a file. Time and size are bounded, and only the requested file is accepted.

use std::{
    fs::File,
    io::{self, Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use thiserror::Error;
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

use super::settings::{Limits, Server};

/// Bytes that must arrive in each [`Limits::timeout`], as elfutils requires.
const LEAST_BYTES: u64 = 100 << 10;

/// Number of redirects that are followed.
const MAX_REDIRECTS: u32 = 5;

/// Reasons why a server gave no debug file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Refusal {
    #[error("has none")]
    Absent,
    #[error("answered with status {0}")]
    Status(u16),
    #[error("sent less than 100 KiB within {} s", .0.as_secs())]
    Slow(Duration),
    #[error("could not be reached: {0}")]
    Unreachable(String),
    #[error("closed the connection in the middle")]
    CutShort,
    #[error("sent an answer other than HTTP")]
    NotHttp,
    #[error("sent more than the limit of {0} bytes")]
    TooLarge(u64),
    #[error("sent a file other than ELF, which was refused")]
    NotElf,
    #[error("sent the file of another build, which was refused")]
    OtherBuild,
    #[error("could not be asked in the remaining time")]
    NoTime,
    #[error("sent a file, but writing it failed: {0}")]
    NotWritten(String),
}

impl Refusal {
    /// Returns whether the next file would only cost time, because it would fail in the same way.
    pub(super) fn is_of_server(&self) -> bool {
        matches!(self, Self::Slow(_) | Self::Unreachable(_) | Self::NotHttp)
    }
}

/// Makes requests until their common time is over.
pub(super) struct Client {
    agent: Agent,
    limits: Limits,
    until: Instant,
}

impl Client {
    /// Starts the time of all requests. Trusts the certificates of the system.
    pub(super) fn new(limits: Limits) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(MAX_REDIRECTS)
            .timeout_connect(Some(limits.timeout))
            .timeout_recv_response(Some(limits.timeout))
            .timeout_per_read(Some(limits.timeout))
            .user_agent(concat!("rabbitscope/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls())
            .build();
        let agent = Agent::new_with_config(config);
        Self { agent, limits, until: Instant::now() + limits.total }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Writes the debug file of `build_id` into the empty `file`. `is_over` ends it early.
    pub(super) fn fetch(
        &self,
        server: &Server,
        build_id: &str,
        file: &mut File,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        if self.left().is_zero() || is_over() {
            return Err(Refusal::NoTime);
        }
        let mut response = self.request(server, build_id).map_err(|error| self.refusal(&error))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Err(Refusal::Absent),
            status => return Err(Refusal::Status(status)),
        }
        let announced = response.body().content_length();
        if announced.is_some_and(|bytes| bytes > self.limits.bytes) {
            return Err(Refusal::TooLarge(self.limits.bytes));
        }
        let received = self.receive(&mut response.body_mut().as_reader(), file, is_over)?;
        if announced.is_some_and(|bytes| bytes != received) {
            return Err(Refusal::CutShort);
        }
        require_build(file, build_id)
    }

    fn request(
        &self,
        server: &Server,
        build_id: &str,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let request = self.agent.get(format!("{}/buildid/{build_id}/debuginfo", server.url));
        let request = match &server.authorization {
            Some(authorization) => request.header("Authorization", authorization),
            None => request,
        };
        // A request by TLS must not be redirected to a server without TLS.
        let is_secure = server.url.starts_with("https://");
        let within = request.config().timeout_global(Some(self.left())).https_only(is_secure);
        within.build().call()
    }

    /// Copies the body into the file and returns the number of bytes.
    fn receive(
        &self,
        body: &mut impl Read,
        file: &mut File,
        is_over: &dyn Fn() -> bool,
    ) -> Result<u64, Refusal> {
        let mut room = vec![0; 64 << 10];
        let (mut received, mut since, mut due) = (0, Instant::now(), LEAST_BYTES);
        loop {
            let count = body.read(&mut room).map_err(|error| self.refusal(&error.into()))?;
            if count == 0 {
                return Ok(received);
            }
            received += count as u64;
            if received > self.limits.bytes {
                return Err(Refusal::TooLarge(self.limits.bytes));
            }
            if self.left().is_zero() || is_over() {
                return Err(Refusal::NoTime);
            }
            if received >= due {
                (since, due) = (Instant::now(), received + LEAST_BYTES);
            } else if since.elapsed() > self.limits.timeout {
                return Err(Refusal::Slow(self.limits.timeout));
            }
            let written = file.write_all(&room[..count]);
            written.map_err(|error| Refusal::NotWritten(error.to_string()))?;
        }
    }

    fn refusal(&self, error: &ureq::Error) -> Refusal {
        let unreachable = |reason: &str| Refusal::Unreachable(reason.to_owned());
        match error {
            ureq::Error::Timeout(ureq::Timeout::Global) => Refusal::NoTime,
            ureq::Error::Timeout(_) => Refusal::Slow(self.limits.timeout),
            ureq::Error::HostNotFound => unreachable("its host is not found"),
            ureq::Error::TooManyRedirects => unreachable("it points from one server to the next"),
            ureq::Error::Protocol(_) | ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
                Refusal::NotHttp
            }
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => unreachable("TLS is refused"),
            ureq::Error::RequireHttpsOnly(_) => unreachable("it points to a server without TLS"),
            ureq::Error::Io(error) => self.refusal_of_socket(error),
            other => unreachable(&other.to_string()),
        }
    }

    fn refusal_of_socket(&self, error: &io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Refusal::CutShort,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                Refusal::Slow(self.limits.timeout)
            }
            _ => Refusal::Unreachable(error.to_string()),
        }
    }
}

/// Requires an ELF file of this build, because a server may send anything.
pub(super) fn require_build(file: &File, build_id: &str) -> Result<(), Refusal> {
    match rabbitscope_probe::build_id(file) {
        None => Err(Refusal::NotElf),
        Some(found) if found == build_id => Ok(()),
        Some(_) => Err(Refusal::OtherBuild),
    }
}

/// Names the provider of rustls, which selects none by itself. HTTP pollers do the same.
fn tls() -> TlsConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let authorities = rustls_native_certs::load_native_certs().certs;
    let authorities: Vec<Certificate<'static>> =
        authorities.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    let builder = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    builder.root_certs(RootCerts::new_with_certs(&authorities)).build()
}
