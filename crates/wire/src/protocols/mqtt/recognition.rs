//! Bytes that may be packets: in the middle of a connection, and at its beginning.

use super::packet::{name, packet_type};

/// Maximum of bytes of the remaining length.
pub(super) const LENGTH_BYTES_MAX: u32 = 4;
/// Longest packet that a search accepts.
const DISTRUSTED_MAX: u32 = 1 << 20;

/// Returns whether a packet of this type may have this length. Texts are full of bytes that begin packets, but rarely
/// of such short ones. An answer has an identifier, and in MQTT 5 a reason and an empty list of properties.
pub(super) fn is_plausible(kind: u8, length: u32) -> bool {
    match kind {
        packet_type::PINGREQ | packet_type::PINGRESP => length == 0,
        packet_type::PUBACK..=packet_type::PUBCOMP => (2..=4).contains(&length),
        packet_type::DISCONNECT | packet_type::CONNACK => length <= 2,
        _ => length <= DISTRUSTED_MAX,
    }
}

/// Returns whether bytes begin a topic: no control characters or wildcards (section 4.7). A character may be cut off.
pub(super) fn is_topic(bytes: &[u8]) -> bool {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.chars().any(|character| character.is_control() || matches!(character, '+' | '#'))
}

/// Returns whether bytes begin a connection with a CONNECT.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    let [0x10, rest @ ..] = bytes else { return false };
    let length = rest.iter().take(LENGTH_BYTES_MAX as usize).take_while(|byte| **byte & 0x80 != 0);
    let behind = rest.get(length.count() + 1..).unwrap_or_default();
    behind.starts_with(b"\0\x04MQTT") || behind.starts_with(b"\0\x06MQIsdp")
}

/// Returns whether a packet may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| name(*first).is_some())
}
