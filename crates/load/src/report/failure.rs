//! The failure of a connection: its reason and kind, and whether a new connection may help.

use std::io;

use rabbitscope_amqp::ConnectionError;
use rabbitscope_runs::record::ErrorKind;
use thiserror::Error;

/// A failure of a connection, as one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) kind: ErrorKind,
    /// True if the connection was lost or closed, so that a new one may work. Otherwise a new one would not help.
    pub(crate) is_loss: bool,
}

impl Failure {
    /// A lost connection.
    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), kind: ErrorKind::ConnectionLost, is_loss: true }
    }

    /// A socket error that the system reported.
    pub(crate) fn socket(error: &io::Error) -> Self {
        Self::lost(format!("the connection to the broker broke: {error}"))
    }

    /// A channel that the broker closed. Only a new connection can replace it.
    pub(crate) fn channel_closed(reason: impl Into<String>) -> Self {
        Self { kind: ErrorKind::ChannelClosed, ..Self::lost(reason) }
    }

    /// A consumer that the broker cancelled.
    pub(crate) fn consumer_cancelled(reason: impl Into<String>) -> Self {
        Self { kind: ErrorKind::ConsumerCancelled, ..Self::lost(reason) }
    }

    /// A failure for which a new connection would not help.
    pub(crate) fn wrong(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), kind: ErrorKind::Other, is_loss: false }
    }
}

impl From<ConnectionError> for Failure {
    fn from(error: ConnectionError) -> Self {
        use ConnectionError::{ClosedByBroker, HeartbeatMissed};
        let reason = error.to_string();
        match error {
            ClosedByBroker(_) => Self { kind: ErrorKind::ConnectionClosed, ..Self::lost(reason) },
            HeartbeatMissed { .. } => Self::lost(reason),
            _ => Self::wrong(reason),
        }
    }
}
