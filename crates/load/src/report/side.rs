//! Which side of the load a connection serves; without any connection of one side the run has no service.

use serde::{Deserialize, Serialize};

/// Connections that send, that receive, and that only churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Side {
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
