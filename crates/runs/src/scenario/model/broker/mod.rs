//! The broker under load, and the settings of connections to it. [`written::Broker`] is the only written form of a part
//! of a scenario that differs from its type: its keys exclude each other.

mod connecting;
mod parameter;
mod policy;
mod spec;
mod table;
pub(in crate::scenario) mod written;

pub use connecting::{Allocation, Auth, Connecting, Recovery, Tls};
pub use parameter::Parameter;
pub use policy::{Policy, PolicySubject};
pub use spec::{BrokerSpec, MAX_NODES, ThrowawayBroker};
pub use table::Broker;
