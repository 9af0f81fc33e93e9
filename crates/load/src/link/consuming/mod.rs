//! Consumers on one connection.

mod arrival;
mod consumer;
mod events;
mod forwarding;
mod held_messages;
mod poll_settings;
mod polling;
mod role;
mod settling;
mod stream_position;
mod tasks;
mod unsettled;

pub(super) use held_messages::{HeldMessage, HeldMessages};
pub(super) use role::Consuming;
pub(super) use tasks::{Task, Tasks};
pub(super) use unsettled::Unsettled;
