//! `[[consumers]]`.

mod amqp10;
mod forward;
mod group;
mod settling;
mod stream;
mod tracking;

pub(super) use group::{exclusive_queues, group};
