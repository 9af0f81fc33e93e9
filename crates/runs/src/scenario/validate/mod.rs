//! Checks of a scenario that was read: impossible combinations are refused, and values that follow from others are
//! filled in.
//!
//! One file for each part of a scenario; `whole` checks the whole.

mod broker;
mod churn;
mod connecting;
mod consumers;
mod context;
mod exchanges;
mod expect;
mod faults;
mod fields;
mod mqtt;
mod polling;
mod publishers;
mod queues;
mod rpc;
mod run;
mod schedule;
mod sharing;
mod whole;

#[cfg(test)]
pub(super) use expect::lacks;
pub(super) use whole::check;
