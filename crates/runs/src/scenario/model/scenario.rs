//! A valid scenario, its broker, queues, publishers and consumers.

use super::topology;
use super::{
    Binding, Body, ChurnGroup, ConfirmTimeout, ExchangeSpec, Expectation, FaultSpec, FieldValue,
    LatePolicy, MemberQueues, MessageProperties, Packing, Parameter, Policy, PollerGroup,
    ProcessingStep, ProfileEvent, QueueNames, QueueType, RequestGroup, ResponderGroup, RoutingKeys,
    RunOptions, STAMP_BYTES, Schedule, Settle, SizeStep, Until, WriteMode,
};
use crate::scenario::connecting::Connecting;
use std::{collections::BTreeMap, fmt, time::Duration};

/// A scenario to run. Serialises to the resolved form that is kept in `scenario.toml` and `run.json`, without secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, used for the run directory: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// One or two sentences for the report.
    pub description: String,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The broker under load.
    pub broker: BrokerSpec,
    /// Settings of connections to the broker.
    pub connecting: Connecting,
    /// End of the load.
    pub stop: Stop,
    /// Exchanges declared before the queues.
    pub exchanges: Vec<ExchangeSpec>,
    /// Options of the run.
    pub run: RunOptions,
    /// Queues declared before the load starts.
    pub queues: Vec<QueueSpec>,
    /// Groups of publishers.
    pub publishers: Vec<PublisherGroup>,
    /// Groups of consumers.
    pub consumers: Vec<ConsumerGroup>,
    /// Groups of callers.
    pub requests: Vec<RequestGroup>,
    /// Groups of responders.
    pub responders: Vec<ResponderGroup>,
    /// Objects that come and go.
    pub churn: Vec<ChurnGroup>,
    /// Groups of HTTP pollers.
    pub pollers: Vec<PollerGroup>,
    /// The profile to record during the load.
    pub profile: Option<ProfileSpec>,
    /// The packets to capture during the load.
    pub packets: Option<PacketsSpec>,
    /// Faults of the broker's nodes.
    pub faults: Vec<FaultSpec>,
    /// Expectations of the run.
    pub expect: Expect,
}

/// The expectations of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// A run that is not steady is not valid.
    pub steady: bool,
    /// Limits that must hold.
    pub that: Vec<Expectation>,
}

/// The broker under load.
#[derive(Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each scenario")]
pub enum BrokerSpec {
    /// A broker that already runs. The URIs may carry a password: never print them.
    Existing {
        /// At least one `amqp://user:password@host:port/vhost` or `amqps://…`.
        uris: Vec<String>,
    },
    /// A broker that is started for this run and stopped after it.
    Throwaway(ThrowawayBroker),
}

impl fmt::Debug for BrokerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Existing { .. } => f.write_str("Existing"),
            Self::Throwaway(broker) => broker.fmt(f),
        }
    }
}

impl BrokerSpec {
    /// Returns whether the addresses are independent brokers, so that each needs all queues.
    pub fn is_several_brokers(&self) -> bool {
        matches!(self, Self::Throwaway(broker) if broker.nodes > 1 && !broker.is_cluster)
    }
}

/// Maximum number of nodes of a throwaway cluster: odd numbers keep a majority, and more do not fit on one machine.
pub const MAX_NODES: u32 = 7;

/// The setup of a throwaway broker.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrowawayBroker {
    /// Number of nodes, from 1 to [`MAX_NODES`]; several are a cluster.
    pub nodes: u32,
    /// Several nodes form one cluster. Otherwise each is a separate broker, independent of the others.
    pub is_cluster: bool,
    /// Plugins to enable, by name.
    pub plugins: Vec<String>,
    /// A directory with plugins (`.ez`) in addition to the broker's own; empty for none.
    pub plugins_directory: String,
    /// Lines added to `rabbitmq.conf`.
    pub config: String,
    /// Contents of `advanced.config`; empty for none.
    pub advanced_config: String,
    /// Extra arguments for the Erlang VM, as in `RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS`.
    pub erl_args: String,
    /// Further variables of the broker's environment.
    pub environment: BTreeMap<String, String>,
    /// The root directory of a different system whose RabbitMQ and Erlang are used; empty for the current system.
    pub root: String,
    /// Files with Erlang functions that replace those of the broker.
    pub patches: Vec<String>,
    /// Files with whole modules, `.erl` or `.beam`, that replace those of the broker.
    pub modules: Vec<String>,
    /// Policies of the virtual host.
    pub policies: Vec<Policy>,
    /// Runtime parameters of the virtual host.
    pub parameters: Vec<Parameter>,
}

impl Default for ThrowawayBroker {
    fn default() -> Self {
        Self {
            nodes: 1,
            is_cluster: true,
            plugins: Vec::new(),
            plugins_directory: String::new(),
            config: String::new(),
            advanced_config: String::new(),
            erl_args: String::new(),
            environment: BTreeMap::new(),
            root: String::new(),
            patches: Vec::new(),
            modules: Vec::new(),
            policies: Vec::new(),
            parameters: Vec::new(),
        }
    }
}

/// The end of the load: the earliest of its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Length of the load; absent if message counts are the only end. Publishers that all have a message count also end
    /// the run when they are done, and so do consumers.
    pub duration: Option<Duration>,
    /// Condition that ends the load.
    pub until: Option<Until>,
}

/// A queue or stream, or a set of them that differ by name only.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `queue.declare`, and one of ours")]
pub struct QueueSpec {
    /// Name of the queue; for a set, the name by which groups refer to it.
    pub name: String,
    /// The queues that the entry stands for.
    pub names: QueueNames,
    /// Classic, quorum or stream.
    pub queue_type: QueueType,
    /// Survives a restart of the broker. Always true for quorum queues and streams.
    pub durable: bool,
    /// Belongs to the connection that declares it and goes away with it.
    pub exclusive: bool,
    /// Goes away with its last consumer.
    pub auto_delete: bool,
    /// The queue must already exist; it is neither declared nor removed.
    pub predeclared: bool,
    /// The queue is declared if it does not exist. An existing queue is used with any type and flags.
    pub if_missing: bool,
    /// Arguments of `queue.declare`, without `x-queue-type`.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Exchanges that route to the queue, besides the default exchange.
    pub bindings: Vec<Binding>,
    /// A queue that existed before gets the bindings, too, and keeps them.
    pub bind_existing: bool,
    /// Leave the queue on the broker after the run (by default, the run removes its own declarations).
    pub keep: bool,
}

/// Publishers with the same settings.
#[derive(Clone, Debug, PartialEq)]
pub struct PublisherGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of publishers. Each has its own confirm window and rate.
    pub count: u32,
    /// Connections over which the publishers are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its publishers are spread.
    pub channels: u32,
    /// Exchange; empty is the default exchange.
    pub exchange: String,
    /// Routing key; the queue's name with the default exchange.
    pub routing_key: String,
    /// Routing keys besides `routing_key`.
    pub keys: RoutingKeys,
    /// Assignment of the queues or keys to publishers.
    pub member_queues: MemberQueues,
    /// Body size in bytes. Bodies of at least 12 bytes carry the time stamp for end-to-end latency.
    pub size_bytes: u32,
    /// Sizes that change over time; if there are any, `size_bytes` is the first.
    pub sizes: Vec<SizeStep>,
    /// Contents of bodies.
    pub body: Body,
    /// Number of items in a message, and their compression.
    pub packing: Packing,
    /// Properties of every message.
    pub properties: MessageProperties,
    /// Delivery mode 2; otherwise that of `properties`, or none, which is equivalent to 1.
    pub persistent: bool,
    /// Maximum number of unconfirmed messages of a publisher, or [`NO_WINDOW`]; absent for no confirms.
    pub confirm_window: Option<u32>,
    /// Reaction to missing confirms.
    pub confirm_timeout: Option<ConfirmTimeout>,
    /// Messages without a confirm are sent again after their connection was lost.
    pub republish_unconfirmed: bool,
    /// Delivery of messages to the socket.
    pub write: WriteMode,
    /// Messages in a transaction, committed together; absent for no transactions.
    pub tx_size: Option<u32>,
    /// Unroutable messages are returned.
    pub mandatory: bool,
    /// Due times of messages.
    pub schedule: Schedule,
    /// Treatment of a message that cannot be sent at its time.
    pub late: LatePolicy,
    /// Number of messages after which a publisher stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time from the start of the load to the first message.
    pub start_delay: Duration,
    /// Maximum of an additional random delay of each publisher.
    pub random_start_delay: Duration,
}

impl PublisherGroup {
    /// Returns whether every body has room for a stamp, or travels with one in a header.
    pub fn is_stamped(&self) -> bool {
        let mut sizes = self.sizes.iter().map(|step| step.size_bytes).chain([self.size_bytes]);
        self.has_stamp_headers() || sizes.all(|size| size >= STAMP_BYTES)
    }

    /// Returns whether the body must stay unchanged, so that the time stamp travels in a header.
    pub fn has_stamp_headers(&self) -> bool {
        self.body != Body::Filler || self.packing.is_packed()
    }
}

/// A confirm window without a limit.
pub const NO_WINDOW: u32 = u32::MAX;

/// Consumers with the same settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of consumers.
    pub count: u32,
    /// Connections over which the consumers are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its consumers are spread.
    pub channels: u32,
    /// The queue that the consumers read, or the set of queues over which they are spread.
    pub queue: String,
    /// Assignment of these queues to consumers.
    pub member_queues: MemberQueues,
    /// `basic.qos` for each consumer; absent for unlimited.
    pub prefetch: Option<u16>,
    /// `basic.qos` for each channel; absent for unlimited.
    pub channel_prefetch: Option<u16>,
    /// The broker forgets a message as soon as it is sent.
    pub auto_ack: bool,
    /// Number of messages acknowledged with one frame; 1 acknowledges each.
    pub multi_ack_every: u32,
    /// Acknowledgement or refusal.
    pub settle: Settle,
    /// Messages in a transaction, whose acknowledgements are committed together.
    pub tx_size: Option<u32>,
    /// Messages per second for each consumer; absent for as fast as possible.
    pub rate: Option<f64>,
    /// Time for which each message is held before it is settled.
    pub processing_time: Duration,
    /// Processing times that change over time; if there are any, `processing_time` is the first.
    pub processing_times: Vec<ProcessingStep>,
    /// Time from the last answer to the next `basic.get`, if consumers ask for each message instead of consuming.
    pub polling: Option<Duration>,
    /// No other consumer may read the queue.
    pub exclusive: bool,
    /// Messages are unpacked when they arrive, if publishers of the scenario pack them.
    pub unpack: bool,
    /// Arguments of `basic.consume`, such as `x-stream-offset`.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Number of messages after which a consumer stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time from the start of the load to the first consumer.
    pub start_delay: Duration,
    /// Time from one consumer of the group to the next.
    pub slow_start: Duration,
}

/// A profile recorded during the load.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileSpec {
    /// The sampled event.
    pub event: ProfileEvent,
    /// Time between start of load and start of the recording.
    pub delay: Duration,
    /// Length of the recording.
    pub duration: Duration,
    /// Ticks per second on each CPU.
    pub freq_hz: u32,
}

/// A capture of packets and sockets during the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketsSpec {
    /// Length of the capture from the start of the load; it begins with the first connection.
    pub duration: Duration,
    /// The packets are kept, without credentials and bodies of messages.
    pub save: bool,
}

impl Scenario {
    /// Returns the queues that a group's `queue` stands for.
    pub fn queue_names(&self, reference: &str) -> Vec<String> {
        let set = self.queues.iter().find(|queue| queue.name == reference);
        set.map_or_else(|| vec![reference.to_owned()], QueueSpec::queue_names)
    }

    /// Returns the entry that a group's `queue` refers to, as a whole or by one of its queues.
    pub fn queue_spec(&self, reference: &str) -> Option<&QueueSpec> {
        self.queues.iter().find(|queue| queue.is_meant_by(reference))
    }
}

impl QueueSpec {
    /// Returns whether `reference` is this entry's name or one of its queues.
    pub fn is_meant_by(&self, reference: &str) -> bool {
        let is_set = self.names != QueueNames::One;
        self.name == reference || is_set && self.queue_names().iter().any(|name| name == reference)
    }

    /// Returns every queue of the entry with a known name, so none of those that the broker names.
    pub fn queue_names(&self) -> Vec<String> {
        match &self.names {
            QueueNames::One => vec![self.name.clone()],
            QueueNames::Numbered(range) => range.names(&self.name).collect(),
            QueueNames::Listed(names) => names.clone(),
            QueueNames::ByBroker => Vec::new(),
        }
    }

    /// Returns the routing keys of `binding` for each of the queues.
    pub fn binding_keys(&self, binding: &Binding) -> Vec<String> {
        match &self.names {
            QueueNames::One | QueueNames::ByBroker => vec![binding.routing_key.clone()],
            QueueNames::Numbered(range) => range.names(&binding.routing_key).collect(),
            QueueNames::Listed(names) => {
                names.iter().map(|name| topology::named(&binding.routing_key, name)).collect()
            }
        }
    }
}

impl PublisherGroup {
    /// Returns whether the group comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule.ends()
    }
}

impl QueueType {
    /// Returns the value of the argument `x-queue-type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Quorum => "quorum",
            Self::Stream => "stream",
        }
    }
}
