//! Consumers on one connection.

mod arrival;
mod consumer;
mod held_messages;
mod poll_settings;
mod polling;
mod role;

pub(super) use role::Consuming;
