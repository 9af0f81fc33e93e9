//! Exchanges and queues before and after a run: look-up, declaration, restoration and removal.

mod connection;
mod declarations;
mod depths;
mod foreign_bindings;
mod look_up;
mod markers;
mod own_messages;
mod owned_topology;
mod queue_removal;
mod removal;
mod removal_policy;
mod removed;
mod requests;
mod restorer;

pub(crate) use connection::Topology;
pub(crate) use declarations::{Needs, QueueSet};
pub use depths::QueueDepths;
pub use foreign_bindings::{BindingSource, ForeignBindings, SeenBinding};
pub(crate) use look_up::look_up;
pub(crate) use own_messages::OwnMessages;
pub(crate) use owned_topology::churn_prefix;
pub use owned_topology::{BoundObject, OwnedBinding, OwnedExchange, OwnedQueue, OwnedTopology};
pub(crate) use removal::remove;
pub use removal::remove_leftovers;
pub use removal_policy::Messages;
pub(crate) use removal_policy::RemovalPolicy;
pub use removed::{KeptObject, KeptReason, Leftovers, Removal};
pub(crate) use requests::{declare_request, field_table, typed_queue_arguments};
pub(crate) use restorer::Restorer;
