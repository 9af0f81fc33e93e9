//! `[[publishers]]`: their number, rate and guarantees.

mod amqp10;
mod content;
mod group;
mod packing;
mod stream;
mod target;

pub(super) use group::group;
pub(super) use target::check_exchange;
