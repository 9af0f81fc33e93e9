//! Readers of the stream protocol on one connection.

mod credit;
mod packed;
mod role;

pub(super) use role::Subscribing;
