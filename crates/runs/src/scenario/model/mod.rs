//! The types of a scenario, which serde reads and writes. Keys that depend on each other are checked in `validate`.

mod broker;
mod churn;
mod consumers;
mod expect;
mod faults;
mod filter;
mod layout;
mod polling;
mod profile_events;
mod protocol;
mod publishers;
mod rpc;
mod run;
mod scenario;
mod seed;
mod timing;
mod topology;
mod values;
mod wanted;

pub(super) use broker::written;
pub use broker::{
    Allocation, Auth, Broker, BrokerSpec, Connecting, MAX_NODES, Parameter, Policy, PolicySubject,
    Recovery, ThrowawayBroker, Tls,
};
pub(super) use churn::BOUND_EXCHANGE;
pub use churn::{ChurnGroup, ChurnKind, ChurnSubject};
pub use consumers::{ConsumerGroup, Forward, ProcessingShare, ProcessingStep, Settle};
pub(super) use consumers::{STREAM_FILTER, STREAM_MATCH_UNFILTERED};
pub use expect::{Comparison, Expect, Expectation, Limit};
pub use faults::{FaultKind, FaultNode, FaultSpec, MAX_OCCURRENCES, drawn_node};
pub use filter::SourceFilter;
pub use layout::GroupLayout;
pub use polling::PollerGroup;
pub use profile_events::ProfileEvents;
pub use protocol::{MqttVersion, Protocol};
pub(super) use publishers::JSON_BODIES;
pub use publishers::{
    Algorithm, Body, BodyKind, Compression, ConfirmTimeout, ITEMS_HEADER, MAX_ITEMS,
    MessageProperties, NO_WINDOW, OnConfirmTimeout, Packing, PropertyShare, PublisherGroup,
    RoutingKeys, STAMP_BYTES, STAMP_HEADER, SizeShare, SizeStep, WriteMode,
};
pub use rpc::{ReplyPath, RequestGroup, ResponderGroup};
pub(super) use run::{EMPTY_TIMEOUT, IDLE_TIME};
pub use run::{PacketsSpec, ProfileSpec, RunOptions, Until, UntilKind, WarmUp};
pub use scenario::Scenario;
pub(super) use scenario::partitions;
pub use seed::Seed;
pub use timing::{AfterPhases, Arrival, Demand, LatePolicy, Phase, Schedule};
pub(super) use topology::PARTITION_ORDER;
pub use topology::{
    Binding, ExchangeSpec, FieldValue, MemberQueues, NumberRange, QueueNames, QueueSpec, QueueType,
    Time, has_placeholder,
};
pub(super) use values::UNSET;
pub(crate) use values::time;
pub(super) use wanted::FILTER_VALUE;
