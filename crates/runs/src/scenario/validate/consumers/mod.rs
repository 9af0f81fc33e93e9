//! `[[consumers]]`.

mod group;
mod settling;

pub(super) use group::{exclusive_queues, group};
