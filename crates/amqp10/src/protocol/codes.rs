//! Types of frames, descriptors of performatives, sections, outcomes and others.

/// Start of a connection that begins with the login.
pub const SASL_HEADER: [u8; 8] = *b"AMQP\x03\x01\x00\x00";
/// Start of the connection itself.
pub const AMQP_HEADER: [u8; 8] = *b"AMQP\x00\x01\x00\x00";

/// Type of frames of the connection.
pub const AMQP_FRAME: u8 = 0;
/// Type of frames of the login.
pub const SASL_FRAME: u8 = 1;

/// `open`
pub const OPEN: u8 = 0x10;
/// `begin`
pub const BEGIN: u8 = 0x11;
/// `attach`
pub const ATTACH: u8 = 0x12;
/// `flow`
pub const FLOW: u8 = 0x13;
/// `transfer`
pub const TRANSFER: u8 = 0x14;
/// `disposition`
pub const DISPOSITION: u8 = 0x15;
/// `detach`
pub const DETACH: u8 = 0x16;
/// `end`
pub const END: u8 = 0x17;
/// `close`
pub const CLOSE: u8 = 0x18;
/// `error`
pub const ERROR: u8 = 0x1d;

/// `accepted`
pub const ACCEPTED: u8 = 0x24;
/// `rejected`
pub const REJECTED: u8 = 0x25;
/// `released`
pub const RELEASED: u8 = 0x26;
/// `modified`
pub const MODIFIED: u8 = 0x27;
/// `source`
pub const SOURCE: u8 = 0x28;
/// `target`
pub const TARGET: u8 = 0x29;

/// `sasl-mechanisms`
pub const SASL_MECHANISMS: u8 = 0x40;
/// `sasl-init`
pub const SASL_INIT: u8 = 0x41;
/// `sasl-outcome`
pub const SASL_OUTCOME: u8 = 0x44;

/// `header`
pub const HEADER: u8 = 0x70;
/// `message-annotations`
pub const MESSAGE_ANNOTATIONS: u8 = 0x72;
/// `properties`
pub const PROPERTIES: u8 = 0x73;
/// `application-properties`
pub const APPLICATION_PROPERTIES: u8 = 0x74;
/// `amqp-value`
pub const AMQP_VALUE: u8 = 0x77;
