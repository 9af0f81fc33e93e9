//! `[[queues]]`: settings that RabbitMQ would refuse are refused here, with the reason; super streams become their parts.

mod checks;
mod super_streams;

pub(super) use checks::{distinct, queue};
pub(super) use super_streams::expand;
