//! First bytes of the packets: their type, and flags that are always the same.

/// `CONNECT`
pub const CONNECT: u8 = 0x10;
/// `CONNACK`
pub const CONNACK: u8 = 0x20;
/// `PUBLISH`, without its flags.
pub const PUBLISH: u8 = 0x30;
/// `PUBACK`
pub const PUBACK: u8 = 0x40;
/// `SUBSCRIBE`
pub const SUBSCRIBE: u8 = 0x82;
/// `SUBACK`
pub const SUBACK: u8 = 0x90;
/// `UNSUBSCRIBE`
pub const UNSUBSCRIBE: u8 = 0xa2;
/// `UNSUBACK`
pub const UNSUBACK: u8 = 0xb0;
/// `PINGREQ`
pub const PINGREQ: u8 = 0xc0;
/// `PINGRESP`
pub const PINGRESP: u8 = 0xd0;
/// `DISCONNECT`
pub const DISCONNECT: u8 = 0xe0;

/// Bits of a packet's type.
pub const TYPE: u8 = 0xf0;

/// Flag of a `PUBLISH` that may have been sent before.
pub const DUPLICATE: u8 = 0x08;

/// Position of the quality of service in the flags of a `PUBLISH`.
pub const QUALITY_SHIFT: u8 = 1;
