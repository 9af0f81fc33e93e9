//! Why a connection cannot go on.

use std::io;

use rabbitscope_amqp::ConnectionError;
use rabbitscope_runs::record::ErrorKind;
use thiserror::Error;

/// Why a connection cannot go on, as one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) kind: ErrorKind,
    /// The connection was lost or closed, and a new one may work. Otherwise a new one would not
    /// help.
    pub(crate) is_loss: bool,
}

impl Failure {
    /// The connection is lost.
    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), kind: ErrorKind::ConnectionLost, is_loss: true }
    }

    /// The system reported an error of the socket.
    pub(crate) fn socket(error: &io::Error) -> Self {
        Self::lost(format!("the connection to the broker broke: {error}"))
    }

    /// The broker has closed a channel; only a new connection can replace it.
    pub(crate) fn channel_closed(reason: impl Into<String>) -> Self {
        Self { kind: ErrorKind::ChannelClosed, ..Self::lost(reason) }
    }

    /// The broker has ended a consumer.
    pub(crate) fn consumer_cancelled(reason: impl Into<String>) -> Self {
        Self { kind: ErrorKind::ConsumerCancelled, ..Self::lost(reason) }
    }

    /// A new connection would not help.
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
