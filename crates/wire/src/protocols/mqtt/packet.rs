//! Types of packets, and the flags that they allow in the first byte.

/// Values of the packet type, the upper half of the first byte.
pub(super) mod packet_type {
    pub(in super::super) const CONNECT: u8 = 1;
    pub(in super::super) const CONNACK: u8 = 2;
    pub(in super::super) const PUBLISH: u8 = 3;
    pub(in super::super) const PUBACK: u8 = 4;
    pub(in super::super) const PUBCOMP: u8 = 7;
    pub(in super::super) const SUBSCRIBE: u8 = 8;
    pub(in super::super) const SUBACK: u8 = 9;
    pub(in super::super) const UNSUBACK: u8 = 11;
    pub(in super::super) const PINGREQ: u8 = 12;
    pub(in super::super) const PINGRESP: u8 = 13;
    pub(in super::super) const DISCONNECT: u8 = 14;
    pub(in super::super) const AUTH: u8 = 15;
}

const NAMES: [&str; 15] = [
    "CONNECT",
    "CONNACK",
    "PUBLISH",
    "PUBACK",
    "PUBREC",
    "PUBREL",
    "PUBCOMP",
    "SUBSCRIBE",
    "SUBACK",
    "UNSUBSCRIBE",
    "UNSUBACK",
    "PINGREQ",
    "PINGRESP",
    "DISCONNECT",
    "AUTH",
];

/// Returns the name of a packet by its first byte; none if the flags are not those of its type (3.1.1, section 2.2.2).
/// MQTT 3.1 allows a SUBSCRIBE, UNSUBSCRIBE or PUBREL to be retransmitted, with bit 3.
pub(super) fn name(first: u8) -> Option<&'static str> {
    let (kind, flags) = (first >> 4, first & 0b1111);
    let is_allowed = match kind {
        packet_type::PUBLISH => flags & 0b0110 != 0b0110,
        6 | packet_type::SUBSCRIBE | 10 => flags & 0b0111 == 0b0010,
        _ => flags == 0,
    };
    let at = usize::from(kind).checked_sub(1)?;
    NAMES.get(at).copied().filter(|_| is_allowed)
}
