//! How connections to the broker are made, and made again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The part of `[broker]` that holds for every connection, whoever started the broker.
#[derive(Clone, Debug, PartialEq)]
pub struct Connecting {
    /// Which of several addresses a connection starts with.
    pub allocation: Allocation,
    /// How connections log in.
    pub auth: Auth,
    /// For addresses that start with `amqps://`.
    pub tls: Tls,
    /// For each address, and for each step of setting a connection up.
    pub timeout: Duration,
    /// How long a broker that does not answer yet is waited for.
    pub startup_timeout: Option<Duration>,
    /// Small writes leave at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// `SO_SNDBUF` in bytes; absent: the kernel's choice.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF` in bytes; absent: the kernel's choice.
    pub receive_buffer_bytes: Option<u32>,
    /// Connections that are set up at the same time.
    pub parallel: u32,
    /// Connections a second while they are set up; absent: as fast as it goes.
    pub rate: Option<f64>,
    /// What happens to a connection that is lost; absent: it ends the run.
    pub recovery: Option<Recovery>,
}

impl Default for Connecting {
    fn default() -> Self {
        Self {
            allocation: Allocation::RoundRobin,
            auth: Auth::Plain,
            tls: Tls::default(),
            timeout: Duration::from_secs(10),
            startup_timeout: None,
            nodelay: true,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            parallel: 16,
            rate: None,
            recovery: None,
        }
    }
}

/// Which of several addresses a connection starts with. The others are tried after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// In turn.
    RoundRobin,
    /// At random, from the scenario's seed.
    Random,
}

/// How connections log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// With the user and password of the URI (PLAIN).
    Plain,
    /// By the client's certificate (EXTERNAL).
    External,
    /// With an `OAuth2` token, which takes the place of the password (PLAIN).
    Token {
        /// The file that holds it. The token itself is in no record.
        file: String,
    },
}

/// TLS, with PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Authorities that may have signed the broker's certificate; absent: those of the machine.
    pub ca: Option<String>,
    /// The client's certificate, with those between it and the authority.
    pub cert: Option<String>,
    /// Its private key.
    pub key: Option<String>,
    /// Name that the broker is asked for (SNI) and has to prove; absent: the URI's host.
    pub server_name: Option<String>,
    /// The broker's certificate is checked.
    pub verify: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self { ca: None, cert: None, key: None, server_name: None, verify: true }
    }
}

/// How a lost connection is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// From the loss to the first attempt.
    pub delay: Duration,
    /// The delay doubles with each attempt up to this.
    pub max_delay: Duration,
    /// A connection that cannot be made again for so long ends the run.
    pub timeout: Duration,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(10),
            timeout: Duration::from_secs(300),
        }
    }
}
