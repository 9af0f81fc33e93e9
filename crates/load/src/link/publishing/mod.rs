//! Publishers on one connection.

mod batch;
mod confirm_wait;
mod encoding;
mod overdue;
mod publisher;
mod role;
mod write_budget;

pub(super) use publisher::{Publisher, PublisherProgress};
pub(super) use role::Publishing;
