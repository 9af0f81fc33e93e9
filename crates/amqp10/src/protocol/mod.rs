//! Numbers of the protocol.

pub mod codes;
pub mod constructors;
