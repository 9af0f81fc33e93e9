//! Rules about the Erlang VM: schedulers, busy waiting, distribution.

pub(super) mod busy_wait;
pub(super) mod distribution_buffer;
pub(super) mod far_leaders;
pub(super) mod few_schedulers;
pub(super) mod many_schedulers;
