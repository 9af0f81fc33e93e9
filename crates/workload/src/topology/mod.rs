//! Exchanges, queues, bindings and policies: of a definitions file or a running node, or as clients declare them. Of a
//! running node also consumers.
//!
//! Users, parameters and permissions are never read: they hold password hashes, and addresses of shovels and federation.

mod consumers;
mod definitions;
mod node;
mod objects;

pub(crate) use consumers::{
    ClientProtocol, Connection, Consumer, ConsumerPlace, KnownLink, canonical,
};
pub use definitions::DefinitionsError;
pub(crate) use node::BrokerDifference;
pub use node::NodeFacts;
pub use objects::Topology;
pub(crate) use objects::{
    Arguments, Binding, Destination, Exchange, Objects, Policy, Queue, is_marker, is_predeclared,
    quality_of_subscription, subscriptions_of,
};
