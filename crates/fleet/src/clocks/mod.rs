//! The clock of this process, and estimates of remote clocks.

mod estimate;
mod identity;
mod monotonic;

pub(crate) use estimate::{ClockEstimate, Exchange, latency_error_nanos, shared_estimates};
pub(crate) use identity::ClockIdentity;
pub(crate) use monotonic::{identity, instant_at, now_nanos};
