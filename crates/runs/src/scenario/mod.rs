//! A scenario: the broker, queues, publishers, consumers and recordings of a run.
//!
//! `model` holds valid scenarios. The contents of a TOML file (`wire`) are private. [`parse()`] reads the text with its
//! positions (`document`), turns it into wire types with structured errors (`reader`) and these into the model
//! (`validate`). Every refusal names file, line and key.

mod connecting;
mod document;
mod error;
mod latency_ends;
mod machine_use;
mod model;
mod parse;
mod reader;
#[cfg(test)]
mod tests;
mod validate;
mod wire;

pub(crate) use document::Document;
pub(crate) use error::{Problem, refuse};
pub(crate) use reader::read as read_table;

pub use crate::record::Metric;
pub use connecting::{Allocation, Auth, Connecting, Recovery, Tls};
pub use error::{Origin, ScenarioError, nearest_name};
pub use latency_ends::LatencyEnds;
pub use machine_use::{MachineUse, Reach};
pub use model::{
    AfterPhases, Algorithm, Arrival, Binding, Body, BrokerSpec, ChurnGroup, ChurnKind,
    ChurnSubject, ChurnedQueue, Comparison, Compression, ConfirmTimeout, ConsumerGroup, Demand,
    ExchangeSpec, Expect, Expectation, FaultKind, FaultNode, FaultSpec, FieldValue, ITEMS_HEADER,
    LatePolicy, Limit, MAX_ITEMS, MAX_NODES, MAX_OCCURRENCES, MemberQueues, MessageProperties,
    NO_WINDOW, NumberRange, PacketsSpec, Packing, Parameter, PasswordSource, Phase, Policy,
    PolicySubject, PollerGroup, PollerLogin, PollerTrust, ProcessingStep, ProfileEvent,
    ProfileSpec, PublisherGroup, QueueNames, QueueSpec, QueueType, Repetition, ReplyPath,
    RequestGroup, ResponderGroup, RoutingKeys, RunOptions, STAMP_BYTES, STAMP_HEADER, Scenario,
    Schedule, Settle, SizeStep, Stop, ThrowawayBroker, Time, Until, WarmUp, WriteMode, drawn_node,
    has_placeholder,
};
pub use parse::{parse, parse_with_files, read_configuration, refusal};
