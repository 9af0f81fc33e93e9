//! Pollers: HTTP requests at a fixed interval while the load runs.

use std::time::Duration;

/// Pollers that request the same page.
#[derive(Clone, Debug, PartialEq)]
pub struct PollerGroup {
    /// Name in the series, in file names and on the report.
    pub name: String,
    /// The requested URL. Starts with `http://`, `https://` or, on the management listener of a throwaway broker, with
    /// `/`. Holds no credentials.
    pub url: String,
    /// Number of pollers, each with its own connection and schedule; they take turns.
    pub count: u32,
    /// Time from one request of a poller to the next.
    pub interval: Duration,
    /// Time after which a request without a complete answer has failed.
    pub timeout: Duration,
    /// Login (basic authentication).
    pub login: Option<PollerLogin>,
    /// Trusted authorities with `https`.
    pub trust: PollerTrust,
}

/// A user, and the source of the password. The password itself is never part of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollerLogin {
    /// User name.
    pub user: String,
    /// Source of the password.
    pub password: PasswordSource,
}

/// The source of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordSource {
    /// This variable of the environment.
    Environment(String),
    /// This file, without its last line break.
    File(String),
}

/// The trusted authorities with `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollerTrust {
    /// The authorities that the system trusts.
    System,
    /// The authorities in this PEM file, and no others.
    Authorities(String),
    /// No check of certificates.
    Anybody,
}
