//! Frames: types, end, and the header that opens a connection.

/// Type of a frame with a method.
pub const METHOD: u8 = 1;
/// Type of a frame with the size and the properties of a message.
pub const CONTENT_HEADER: u8 = 2;
/// Type of a frame with a part of a message's body.
pub const BODY: u8 = 3;
/// Type of a heartbeat.
pub const HEARTBEAT: u8 = 8;

/// Octets before the payload: type, channel, size.
pub const HEADER_BYTES: usize = 7;
/// Octet after the payload.
pub const END: u8 = 0xce;

/// Octets with which a client of AMQP 0-9-1 opens a connection.
pub const PROTOCOL_HEADER: [u8; 8] = *b"AMQP\x00\x00\x09\x01";

/// RabbitMQ's pseudo-queue for replies. Names of individual reply queues begin with it.
pub const DIRECT_REPLY_TO: &str = "amq.rabbitmq.reply-to";
