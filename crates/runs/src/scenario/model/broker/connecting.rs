//! Connecting to the broker, and reconnecting.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::scenario::model::values::yes;

/// The part of `[broker]` that applies to every connection, to existing and throwaway brokers alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Connecting {
    /// Choice of the first address of a connection.
    pub allocation: Allocation,
    /// Login of connections.
    pub auth: Auth,
    /// TLS settings for addresses that start with `amqps://`.
    pub tls: Tls,
    /// Timeout for each address, and for each step of connecting.
    pub timeout: Duration,
    /// Time to wait for a broker that does not answer yet.
    pub startup_timeout: Option<Duration>,
    /// Small writes leave at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// `SO_SNDBUF` in bytes; absent: the kernel's choice.
    pub send_buffer_bytes: Option<u32>,
    /// `SO_RCVBUF` in bytes; absent: the kernel's choice.
    pub receive_buffer_bytes: Option<u32>,
    /// Connections that are set up at the same time.
    pub parallel: u32,
    /// Connections per second during setup; absent for as fast as possible.
    pub rate: Option<f64>,
    /// Recovery of a lost connection; absent if a loss ends the run.
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

/// Choice of the first address of a connection. The others are tried after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// Each address in turn.
    #[default]
    RoundRobin,
    /// A random address, from the scenario's seed.
    Random,
}

/// Login of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// With the user and password of the URI (PLAIN).
    Plain,
    /// By the client's certificate (EXTERNAL).
    External,
    /// Without a name, as the user that the broker has for this (ANONYMOUS).
    Anonymous,
    /// With an `OAuth2` token, which takes the place of the password (PLAIN).
    Token {
        /// The file that holds the token. The token itself is in no record.
        file: String,
    },
}

/// TLS, with PEM files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tls {
    /// Authorities that may have signed the broker's certificate; absent: those of the machine.
    pub ca: Option<String>,
    /// The client's certificate, with the certificates between it and the authority.
    pub cert: Option<String>,
    /// The private key of `cert`.
    pub key: Option<String>,
    /// Name sent to the broker (SNI) that its certificate must prove; absent for the URI's host.
    pub server_name: Option<String>,
    /// The broker's certificate is checked.
    #[serde(default = "yes")]
    pub verify: bool,
}

impl Tls {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self { ca: None, cert: None, key: None, server_name: None, verify: true }
    }
}

/// Recovery of a lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Time from the loss to the first attempt.
    pub delay: Duration,
    /// Maximum of the delay, which doubles with each attempt.
    pub max_delay: Duration,
    /// Time without success after which a lost connection ends the run.
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
