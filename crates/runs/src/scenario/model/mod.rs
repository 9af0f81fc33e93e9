//! Valid scenarios: every value here can be run as it is.

mod arguments;
mod churn;
mod content;
mod expect;
mod faults;
mod handling;
mod packing;
mod parameter;
mod policy;
mod polling;
mod profile_event;
mod rpc;
mod scenario;
mod timing;
mod topology;

pub use arguments::{FieldValue, Time};
pub use churn::{ChurnGroup, ChurnKind, ChurnSubject, ChurnedQueue};
pub use content::{
    Body, ConfirmTimeout, MessageProperties, RoutingKeys, STAMP_BYTES, STAMP_HEADER, SizeStep,
};
pub use expect::{Comparison, Expectation, Limit};
pub use faults::{FaultKind, FaultNode, FaultSpec, MAX_OCCURRENCES, Repetition, drawn_node};
pub use handling::{ProcessingStep, Settle};
pub use packing::{Algorithm, Compression, ITEMS_HEADER, MAX_ITEMS, Packing, WriteMode};
pub use parameter::Parameter;
pub use policy::{Policy, PolicySubject};
pub use polling::{PasswordSource, PollerGroup, PollerLogin, PollerTrust};
pub use profile_event::ProfileEvent;
pub use rpc::{ReplyPath, RequestGroup, ResponderGroup};
pub use scenario::{
    BrokerSpec, ConsumerGroup, Expect, MAX_NODES, NO_WINDOW, PacketsSpec, ProfileSpec,
    PublisherGroup, QueueSpec, Scenario, Stop, ThrowawayBroker,
};
pub use timing::{
    AfterPhases, Arrival, Demand, LatePolicy, Phase, RunOptions, Schedule, Until, WarmUp,
};
pub use topology::{
    Binding, ExchangeSpec, MemberQueues, NumberRange, QueueNames, QueueType, has_placeholder,
};
