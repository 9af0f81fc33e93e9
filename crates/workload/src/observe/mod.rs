//! Flows of messages: a publisher or a reader of a channel, with counted figures.
//!
//! ```text
//! listener    events of an analysis ─► flows
//! connection  a connection: its client, its channels, the broker's answers
//! channel     a channel: messages under way, confirms, acknowledgements
//! confirms    unconfirmed messages, also if the numbers of publishes are unknown at first
//! answers     times of the broker's answers
//! completion  facts of the node that the capture does not show
//! mqtt        the protocol of a flow, and everything else that only clients of MQTT have
//! links       publishers and readers by AMQP 1.0 and by the stream protocol
//! deliveries  unsettled deliveries
//! overtaking  settlements before those of earlier messages
//! publishing  a flow of publishes
//! reading     a flow of deliveries
//! records     records of TLS
//! replies     requests, and replies to them
//! seen        exchanges, queues and bindings that clients declare
//! blocks      equal parts of the observed time
//! flows       the result
//! ```

mod answers;
mod blocks;
mod channel;
mod completion;
mod confirms;
mod connection;
mod deliveries;
mod flows;
mod links;
mod listener;
mod mqtt;
mod overtaking;
mod publishing;
mod reading;
mod records;
mod replies;
mod seen;

pub(crate) use blocks::{Join, PublishBlock, ReadBlock};
pub use flows::Flows;
pub(crate) use flows::{Churn, Span};
pub(crate) use links::{Counts as LinkCounts, StreamPublisher, StreamReader};
pub use listener::Observer;
pub(crate) use mqtt::{Counts, Protocol, Version};
pub(crate) use overtaking::Overtaking;
pub(crate) use publishing::{ConfirmMode, PublishFlow, PublishKey, STARTING};
pub(crate) use reading::{Prefetch, ReadFlow, Settled};
pub(crate) use records::Records;
