//! Conversion of wire types to the model: defaults are filled in, impossible combinations refused.
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
mod polling;
mod publishers;
mod queues;
mod rpc;
mod run;
mod schedule;
mod whole;

#[cfg(test)]
pub(super) use expect::Measured;
pub(super) use whole::scenario;
