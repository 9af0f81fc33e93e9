//! Rules about processes that are the limit: by flow control, and by CPU time.

mod chain;
pub(super) mod channel_bound;
pub(super) mod queue_bound;
pub(super) mod quorum_soft_limit;
pub(super) mod routing;
pub(super) mod saturated_process;
pub(super) mod store_bound;
