//! The failure of a connection: its reason and kind, and whether a new connection may help.

use std::io;

use rabbitscope_amqp::{BrokerRefusal, ConnectionError, Refusal};
use rabbitscope_runs::record::ErrorKind;
use thiserror::Error;

/// A failure of a connection, as one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Failure {
    /// The reason, as one sentence.
    pub reason: String,
    /// The kind of error in the run record.
    pub kind: ErrorKind,
    /// True if the connection was lost or closed, so that a new one may work. Otherwise a new one would not help.
    pub is_loss: bool,
}

impl Failure {
    /// A lost connection.
    pub fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), kind: ErrorKind::ConnectionLost, is_loss: true }
    }

    /// A socket error that the system reported.
    pub fn socket(error: &io::Error) -> Self {
        Self::lost(format!("the connection to the broker broke: {error}"))
    }

    /// A channel that the broker closed. Only a new connection can replace it.
    pub fn channel_closed(refusal: Refusal) -> Self {
        let reason = format!("the broker closed a channel: {}", BrokerRefusal::from(refusal));
        Self { kind: ErrorKind::ChannelClosed, ..Self::lost(reason) }
    }

    /// A connection that the broker closed.
    fn connection_closed(refusal: Refusal) -> Self {
        let reason = format!("the broker closed the connection: {}", BrokerRefusal::from(refusal));
        Self { kind: ErrorKind::ConnectionClosed, ..Self::lost(reason) }
    }

    /// A consumer that the broker cancelled.
    pub fn consumer_cancelled(reason: impl Into<String>) -> Self {
        Self { kind: ErrorKind::ConsumerCancelled, ..Self::lost(reason) }
    }

    /// A failure for which a new connection would not help.
    pub fn wrong(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), kind: ErrorKind::Other, is_loss: false }
    }
}

impl From<ConnectionError> for Failure {
    fn from(error: ConnectionError) -> Self {
        use ConnectionError::{ClosedByBroker, HeartbeatMissed};
        let reason = error.to_string();
        match error {
            ClosedByBroker(refusal) => Self::connection_closed(refusal),
            HeartbeatMissed { .. } => Self::lost(reason),
            _ => Self::wrong(reason),
        }
    }
}

impl From<rabbitscope_streams::ConnectionError> for Failure {
    fn from(error: rabbitscope_streams::ConnectionError) -> Self {
        use rabbitscope_streams::ConnectionError::{ClosedByBroker, HeartbeatMissed};
        let reason = error.to_string();
        match error {
            ClosedByBroker { .. } => {
                Self { kind: ErrorKind::ConnectionClosed, ..Self::lost(reason) }
            }
            HeartbeatMissed { .. } => Self::lost(reason),
            _ => Self::wrong(reason),
        }
    }
}

impl From<rabbitscope_amqp10::ConnectionError> for Failure {
    fn from(error: rabbitscope_amqp10::ConnectionError) -> Self {
        use rabbitscope_amqp10::ConnectionError::{ClosedByBroker, HeartbeatMissed};
        let reason = error.to_string();
        match error {
            ClosedByBroker(_) => Self { kind: ErrorKind::ConnectionClosed, ..Self::lost(reason) },
            HeartbeatMissed { .. } => Self::lost(reason),
            _ => Self::wrong(reason),
        }
    }
}

impl From<rabbitscope_mqtt::ConnectionError> for Failure {
    fn from(error: rabbitscope_mqtt::ConnectionError) -> Self {
        use rabbitscope_mqtt::ConnectionError::{ClosedByBroker, PingUnanswered};
        let reason = error.to_string();
        match error {
            ClosedByBroker { .. } => {
                Self { kind: ErrorKind::ConnectionClosed, ..Self::lost(reason) }
            }
            PingUnanswered { .. } => Self::lost(reason),
            _ => Self::wrong(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_in_mid_load_has_its_next_step() {
        let text = "ACCESS_REFUSED - access to exchange 'e' in vhost '/' refused for user 'u'";
        let refusal = || Refusal { code: 403, text: text.to_owned(), class_id: 60, method_id: 40 };
        let check = |failure: Failure, kind: ErrorKind| {
            assert!(failure.reason.contains(text), "{failure}");
            assert!(failure.reason.contains("set_permissions"), "{failure}");
            assert_eq!((failure.kind, failure.is_loss), (kind, true));
        };
        check(Failure::channel_closed(refusal()), ErrorKind::ChannelClosed);
        let closed = ConnectionError::ClosedByBroker(refusal());
        check(closed.into(), ErrorKind::ConnectionClosed);
    }
}
