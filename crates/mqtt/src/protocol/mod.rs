//! Numbers of the protocol.

pub mod packets;
pub mod properties;
pub mod reason;
pub mod version;
