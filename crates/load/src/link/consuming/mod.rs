//! Consumers on one connection.

mod held_messages;
mod poll_settings;
mod polling;
mod role;

pub(super) use role::Consuming;
