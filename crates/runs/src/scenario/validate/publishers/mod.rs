//! `[[publishers]]`: how many, how fast, with which guarantees.

mod content;
mod group;
mod packing;
mod target;

pub(super) use group::group;
pub(super) use target::check_exchange;
