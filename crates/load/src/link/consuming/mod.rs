//! Consumers on one connection.

mod arrival;
mod consumer;
mod held_messages;
mod poll_settings;
mod polling;
mod role;
mod stream_position;
mod unsettled;

pub(super) use role::Consuming;
