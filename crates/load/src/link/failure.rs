//! Why a link cannot go on.

use rabbitscope_amqp::ConnectionError;
use thiserror::Error;

/// Why a connection cannot go on, as one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct Failure {
    pub(crate) reason: String,
    /// The connection was lost or closed: another one may fare better. Otherwise one side is wrong.
    pub(crate) is_loss: bool,
}

impl Failure {
    /// The connection is gone, but a new one may do.
    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_loss: true }
    }

    /// Trying again would not help.
    pub(crate) fn wrong(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_loss: false }
    }
}

impl From<ConnectionError> for Failure {
    fn from(error: ConnectionError) -> Self {
        use ConnectionError::{ClosedByBroker, HeartbeatMissed};
        let is_loss = matches!(error, ClosedByBroker(_) | HeartbeatMissed { .. });
        Self { reason: error.to_string(), is_loss }
    }
}
