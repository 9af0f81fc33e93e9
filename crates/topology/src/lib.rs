//! Exchanges and queues before and after a run: look-up, declaration, restoration and removal.

mod connection;
mod declarations;
mod depths;
mod dial;
mod error;
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

pub use connection::Topology;
pub use declarations::{CreatedObjects, Declarations, Needs, QueueSet};
pub use depths::QueueDepths;
pub use foreign_bindings::{BindingSource, ForeignBindings, SeenBinding};
pub use look_up::look_up;
pub use own_messages::OwnMessages;
pub use owned_topology::{
    BoundObject, OwnedBinding, OwnedExchange, OwnedQueue, OwnedTopology, churn_prefix,
};
pub use removal::{remove, remove_leftovers};
pub use removal_policy::{Messages, RemovalPolicy};
pub use removed::{KeptObject, KeptReason, Leftovers, Removal};
pub use requests::{declare_request, field_table, typed_queue_arguments};
pub use restorer::Restorer;

pub use dial::{
    Amqp10Client, ControlClient, Dialer, MqttClient, MqttIdentity, Received, Sent, Stream,
    StreamClient, StreamEnd, Tls, TokenFile, Unanswered, amqp10_error, dial_error, mqtt_error,
    request_error, stream_error,
};
pub use error::TopologyError;
