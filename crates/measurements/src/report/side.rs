//! The side of the load that a connection serves. A run has no service while every connection of a side is lost.

use serde::{Deserialize, Serialize};

/// Connections that send, that receive, and that only churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Publishers and callers.
    Sending,
    /// Consumers and responders.
    Receiving,
    /// Churn on connections that stay.
    Churning,
}

impl Side {
    pub(crate) const COUNT: usize = 3;
}
