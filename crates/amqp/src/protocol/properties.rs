//! Flags of a message's properties. The values follow the flags in this order.

/// MIME type.
pub const CONTENT_TYPE: u16 = 1 << 15;
/// MIME encoding.
pub const CONTENT_ENCODING: u16 = 1 << 14;
/// Headers, a table.
pub const HEADERS: u16 = 1 << 13;
/// Delivery mode, an octet: 1 transient, [`PERSISTENT`].
pub const DELIVERY_MODE: u16 = 1 << 12;
/// Priority, an octet.
pub const PRIORITY: u16 = 1 << 11;
/// Identifier that ties a reply to its request.
pub const CORRELATION_ID: u16 = 1 << 10;
/// Queue for replies.
pub const REPLY_TO: u16 = 1 << 9;
/// Time to live in milliseconds, as text.
pub const EXPIRATION: u16 = 1 << 8;
/// Message identifier.
pub const MESSAGE_ID: u16 = 1 << 7;
/// Time in seconds since 1970-01-01 UTC, eight octets.
pub const TIMESTAMP: u16 = 1 << 6;
/// Type name.
pub const KIND: u16 = 1 << 5;
/// User id.
pub const USER_ID: u16 = 1 << 4;
/// Application id.
pub const APP_ID: u16 = 1 << 3;
/// Cluster id, the last property of class `basic`.
pub const CLUSTER_ID: u16 = 1 << 2;
/// Further flags follow, of properties that class `basic` lacks.
pub const MORE_FLAGS: u16 = 1;

/// Delivery mode of a message that survives a restart of the broker.
pub const PERSISTENT: u8 = 2;

/// Octets of a content header before the flags: class, weight and size of the body.
pub const BYTES_BEFORE_FLAGS: usize = 12;
