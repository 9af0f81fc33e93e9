//! Pollers: HTTP requests at a fixed interval while the load runs.

use std::time::Duration;

/// Pollers that ask for the same page.
#[derive(Clone, Debug, PartialEq)]
pub struct PollerGroup {
    /// Name in the series, in file names and on the report.
    pub name: String,
    /// What is asked for. Starts with `http://`, `https://` or, on the management listener of a
    /// throwaway broker, with `/`. Holds no credentials.
    pub url: String,
    /// Number of pollers, each with its own connection and schedule; they take turns.
    pub count: u32,
    /// From one request of a poller to the next.
    pub interval: Duration,
    /// A request without a complete answer has failed after this time.
    pub timeout: Duration,
    /// Who asks (basic authentication).
    pub login: Option<PollerLogin>,
    /// Whom to believe with `https`.
    pub trust: PollerTrust,
}

/// A user, and where the password is. The password itself is never part of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollerLogin {
    /// User name.
    pub user: String,
    /// Where the password is.
    pub password: PasswordSource,
}

/// Where a password is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordSource {
    /// In this variable of the environment.
    Environment(String),
    /// In this file, without its last line break.
    File(String),
}

/// Whom to believe with `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollerTrust {
    /// The authorities that the system trusts.
    System,
    /// Those in this PEM file, and no others.
    Authorities(String),
    /// Anybody: certificates are not checked.
    Anybody,
}
