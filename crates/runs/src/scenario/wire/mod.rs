//! The contents of a scenario file. Only their types have been checked.
//!
//! The same types write the resolved scenario, so that reading and writing cannot drift apart.

mod broker;
mod churn;
mod consumers;
mod document;
mod expect;
mod faults;
mod polling;
mod publishers;
mod rpc;
mod timing;
mod topology;
mod values;

pub(super) use broker::{AuthKind, Broker};
pub(super) use churn::Churn;
pub(super) use consumers::Consumers;
pub(super) use document::{Packets, Profile, Scenario};
pub(super) use expect::Expect;
pub(super) use faults::Fault;
pub(super) use polling::Pollers;
pub(super) use publishers::{BodyKind, OnConfirmTimeout, Properties, Publishers};
pub(super) use rpc::{Requests, Responders};
pub(super) use timing::{Phase, Run, UntilKind};
pub(super) use topology::{Binding, Exchange, Queue};
