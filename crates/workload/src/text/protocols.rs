//! The protocol of a group.

use super::lines::Lines;
use crate::observe::{Protocol, Version};

/// Writes the protocol, if it is not AMQP 0-9-1.
pub(super) fn write(lines: &mut Lines, protocol: Protocol) {
    let (version, qos) = match protocol {
        Protocol::Amqp091 => return,
        Protocol::Amqp10 => return lines.text("protocol", "amqp-1.0"),
        Protocol::Stream => return lines.text("protocol", "stream"),
        Protocol::Mqtt { version, qos } => (version, qos),
    };
    lines.text("protocol", "mqtt");
    if version == Version::V5 {
        lines.text("mqtt-version", "5");
    }
    if qos == 0 {
        lines.key("qos", "0");
    }
}

/// Returns the protocol for a comment, if it is not AMQP 0-9-1.
pub(super) fn by(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Amqp091 => "",
        Protocol::Amqp10 => " by AMQP 1.0",
        Protocol::Stream => " by the stream protocol",
        Protocol::Mqtt { version: Version::V5, .. } => " by MQTT 5",
        Protocol::Mqtt { .. } => " by MQTT 3.1.1",
    }
}
