//! The protocol of a group.

use super::lines::Lines;
use crate::observe::{Protocol, Version};

/// Writes the protocol, if it is not AMQP 0-9-1.
pub(super) fn write(lines: &mut Lines, protocol: Protocol) {
    let Protocol::Mqtt { version, qos } = protocol else { return };
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
        Protocol::Mqtt { version: Version::V5, .. } => " by MQTT 5",
        Protocol::Mqtt { .. } => " by MQTT 3.1.1",
    }
}
