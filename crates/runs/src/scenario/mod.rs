//! A scenario: the broker, queues, publishers, consumers and recordings of a run.
//!
//! [`parse()`] reads a TOML text with its positions (`document`), turns it into the types in `model` with structured
//! errors (`reader`), and checks these (`validate`). The same types write the resolved scenario. Every refusal names
//! file, line and key.

mod assignment;
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

pub(crate) use document::{Document, REMOVAL};
pub(crate) use error::{Problem, refuse};
pub(crate) use model::time;
pub(crate) use reader::read as read_table;

pub use crate::record::Metric;
pub use assignment::assigned_queues;
pub use error::{Origin, ScenarioError, nearest_name};
pub use latency_ends::LatencyEnds;
pub use machine_use::{MachineUse, Reach};
pub use model::{
    AfterPhases, Algorithm, Allocation, Arrival, Auth, Binding, Body, BodyKind, Broker, BrokerSpec,
    ChurnGroup, ChurnKind, ChurnSubject, Comparison, Compression, ConfirmTimeout, Connecting,
    ConsumerGroup, Demand, ExchangeSpec, Expect, Expectation, FaultKind, FaultNode, FaultSpec,
    FieldValue, Forward, GroupLayout, ITEMS_HEADER, LatePolicy, Limit, MAX_ITEMS, MAX_NODES,
    MAX_OCCURRENCES, MemberQueues, MessageProperties, MqttVersion, NO_WINDOW, NumberRange,
    OnConfirmTimeout, PacketsSpec, Packing, Parameter, Phase, Policy, PolicySubject, PollerGroup,
    ProcessingShare, ProcessingStep, ProfileEvents, ProfileSpec, PropertyShare, Protocol,
    PublisherGroup, QueueNames, QueueSpec, QueueType, Recovery, ReplyPath, RequestGroup,
    ResponderGroup, RoutingKeys, RunOptions, STAMP_BYTES, STAMP_HEADER, Scenario, Schedule, Seed,
    Settle, SizeShare, SizeStep, SourceFilter, ThrowawayBroker, Time, Tls, Until, UntilKind,
    WarmUp, WriteMode, drawn_node, has_placeholder,
};
pub use parse::{parse, parse_with_files, read_configuration, refusal};
