//! Publishers on one connection.

mod amqp091;
mod amqp10;
mod answers;
mod batch;
mod confirm_wait;
mod encoding;
mod mqtt;
mod overdue;
mod publisher;
mod role;
mod sends;
mod streams;
mod write_budget;

pub(super) use publisher::{Publisher, PublisherProgress};
pub(super) use role::Publishing;
pub(super) use sends::Sends;
