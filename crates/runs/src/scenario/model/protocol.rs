//! The protocols of clients.

use serde::{Deserialize, Serialize};

/// The protocol of a group's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Protocol {
    /// AMQP 0-9-1
    #[default]
    #[serde(rename = "amqp-0-9-1")]
    Amqp091,
    /// RabbitMQ's stream protocol
    #[serde(rename = "stream")]
    Stream,
}

impl Protocol {
    /// Returns whether this is the protocol of a group that names none.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(in crate::scenario) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
