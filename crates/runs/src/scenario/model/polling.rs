//! Pollers: HTTP requests at a fixed interval while the load runs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::values::{is_false, one, span};

/// Pollers that request the same page.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PollerGroup {
    /// Name in the series, in file names and on the report.
    #[serde(default)]
    pub name: String,
    /// The requested URL. Starts with `http://`, `https://` or, on the management listener of a throwaway broker, with
    /// `/`. Holds no credentials.
    pub url: String,
    /// Number of pollers, each with its own connection and schedule; they take turns.
    #[serde(default = "one")]
    pub count: u32,
    /// Time from one request of a poller to the next.
    #[serde(default = "interval", with = "span")]
    pub interval: Duration,
    /// Time after which a request without a complete answer has failed.
    #[serde(default = "timeout", with = "span")]
    pub timeout: Duration,
    /// User of the login (basic authentication). The password itself is never part of a scenario.
    pub user: Option<String>,
    /// The variable of the environment that holds the password.
    pub password_env: Option<String>,
    /// The file that holds the password, without its last line break.
    pub password_file: Option<String>,
    /// The PEM file with the only trusted authorities; absent for those that the system trusts.
    pub ca: Option<String>,
    /// Certificates are not checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub insecure: bool,
}

fn interval() -> Duration {
    Duration::from_secs(1)
}

fn timeout() -> Duration {
    Duration::from_secs(10)
}
