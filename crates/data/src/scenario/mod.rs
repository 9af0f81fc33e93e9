//! A scenario: which broker, which queues, who publishes, who consumes, what is recorded.
//!
//! [`model`] holds what is valid; the wire form (what a TOML file may say) is private and is turned
//! into the model by [`parse`], which names file and key in every refusal.

mod model;

pub use model::{
    BrokerSpec, ConsumerGroup, FieldValue, ProfileSpec, PublisherGroup, QueueSpec, QueueType,
    Scenario, Stop, ThrowawayBroker,
};
