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

/// What is to be run. Serialises to the resolved form that is kept in `scenario.toml` and
/// `run.json`, without secrets.
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
    /// How connections to it are made.
    pub connecting: Connecting,
    /// When the load ends.
    pub stop: Stop,
    /// Exchanges declared before the queues.
    pub exchanges: Vec<ExchangeSpec>,
    /// How the run is carried out.
    pub run: RunOptions,
    /// Queues declared before the load starts.
    pub queues: Vec<QueueSpec>,
    /// Groups of publishers.
    pub publishers: Vec<PublisherGroup>,
    /// Groups of consumers.
    pub consumers: Vec<ConsumerGroup>,
    /// Groups of callers.
    pub requests: Vec<RequestGroup>,
    /// Groups of those who answer them.
    pub responders: Vec<ResponderGroup>,
    /// Things that come and go.
    pub churn: Vec<ChurnGroup>,
    /// Groups of HTTP pollers.
    pub pollers: Vec<PollerGroup>,
    /// The profile to take while the load runs.
    pub profile: Option<ProfileSpec>,
    /// The packets to look at while the load runs.
    pub packets: Option<PacketsSpec>,
    /// Harm that is done to its nodes.
    pub faults: Vec<FaultSpec>,
    /// What is expected of it.
    pub expect: Expect,
}

/// What is expected of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// A run that is not steady is not valid.
    pub steady: bool,
    /// Limits that must hold.
    pub that: Vec<Expectation>,
}

/// Which broker is put under load.
#[derive(Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each scenario")]
pub enum BrokerSpec {
    /// One that is already there. The URIs may carry a password: never print them.
    Existing {
        /// At least one `amqp://user:password@host:port/vhost` or `amqps://…`.
        uris: Vec<String>,
    },
    /// One that is started for this run and stopped after it.
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
    /// Whether its addresses are brokers that know nothing of one another, so that each needs all queues.
    pub fn is_several_brokers(&self) -> bool {
        matches!(self, Self::Throwaway(broker) if broker.nodes > 1 && !broker.is_cluster)
    }
}

/// Nodes of a throwaway cluster, at most: odd numbers keep a majority, and more do not fit on one machine.
pub const MAX_NODES: u32 = 7;

/// How a throwaway broker is set up.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrowawayBroker {
    /// How many nodes it has, from 1 to [`MAX_NODES`]; several are a cluster.
    pub nodes: u32,
    /// Several nodes are one cluster. Otherwise each is a broker of its own, which knows nothing of the others.
    pub is_cluster: bool,
    /// Plugins to enable, by name.
    pub plugins: Vec<String>,
    /// A directory with plugins (`.ez`) beside those that came with the broker; empty for none.
    pub plugins_directory: String,
    /// Lines added to `rabbitmq.conf`.
    pub config: String,
    /// Contents of `advanced.config`; empty for none.
    pub advanced_config: String,
    /// Extra arguments for the Erlang VM, as in `RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS`.
    pub erl_args: String,
    /// Further variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// The root directory of another system whose RabbitMQ and Erlang are used; empty for this one's.
    pub root: String,
    /// Files with functions, in Erlang, that take the place of those of the broker.
    pub patches: Vec<String>,
    /// Files with whole modules, `.erl` or `.beam`, that take the place of those of the broker.
    pub modules: Vec<String>,
    /// Policies of its virtual host.
    pub policies: Vec<Policy>,
    /// Runtime parameters of its virtual host.
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

/// When the load ends: at whichever comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// After this time. Publishers all of which have a message count end the run when they are
    /// done, and so do consumers; absent when one of these is the only end.
    pub duration: Option<Duration>,
    /// When this is so.
    pub until: Option<Until>,
}

/// A queue or stream, or a set of them that differ by name only.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `queue.declare`, and one of ours")]
pub struct QueueSpec {
    /// Its name; of a set, the name by which groups refer to it.
    pub name: String,
    /// Which queues it stands for.
    pub names: QueueNames,
    /// Classic, quorum or stream.
    pub queue_type: QueueType,
    /// Survives a restart of the broker. Always true for quorum queues and streams.
    pub durable: bool,
    /// Belongs to the connection that declares it and goes away with it.
    pub exclusive: bool,
    /// Goes away with its last consumer.
    pub auto_delete: bool,
    /// Must be there already; is neither declared nor removed.
    pub predeclared: bool,
    /// Declared where it is not there; one that is there is used whatever its type and flags are.
    pub if_missing: bool,
    /// Arguments of `queue.declare`, `x-queue-type` left out.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Exchanges that route to it, besides the default exchange.
    pub bindings: Vec<Binding>,
    /// A queue that was there before gets the bindings, too, and keeps them.
    pub bind_existing: bool,
    /// Leave the queue on the broker after the run (the default removes what the run declared).
    pub keep: bool,
}

/// Publishers that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct PublisherGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of publishers. Each has its own confirm window and rate.
    pub count: u32,
    /// Connections over which they are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its publishers are spread.
    pub channels: u32,
    /// Exchange; empty is the default exchange.
    pub exchange: String,
    /// Routing key; the queue's name with the default exchange.
    pub routing_key: String,
    /// Routing keys besides `routing_key`.
    pub keys: RoutingKeys,
    /// Which of the queues or keys a publisher sends to.
    pub member_queues: MemberQueues,
    /// Body size in bytes. Bodies of at least 12 bytes carry the time stamp for end-to-end latency.
    pub size_bytes: u32,
    /// Sizes that change over time; when there are any, `size_bytes` is the first.
    pub sizes: Vec<SizeStep>,
    /// What bodies hold.
    pub body: Body,
    /// How many of them are in a message, and how they are compressed.
    pub packing: Packing,
    /// Properties of every message.
    pub properties: MessageProperties,
    /// Delivery mode 2; otherwise that of `properties`, or none, which says the same as 1.
    pub persistent: bool,
    /// Unconfirmed messages that a publisher may have, or [`NO_WINDOW`]; absent: no confirms.
    pub confirm_window: Option<u32>,
    /// What happens when nothing is confirmed.
    pub confirm_timeout: Option<ConfirmTimeout>,
    /// What had no confirm when its connection was lost is sent again.
    pub republish_unconfirmed: bool,
    /// How messages are handed to the socket.
    pub write: WriteMode,
    /// Messages in a transaction, committed together; absent: no transactions.
    pub tx_size: Option<u32>,
    /// Return what cannot be routed.
    pub mandatory: bool,
    /// When messages are due.
    pub schedule: Schedule,
    /// What becomes of a message that cannot be sent at its time.
    pub late: LatePolicy,
    /// Messages for each publisher, after which it stops; absent: no limit.
    pub messages: Option<u64>,
    /// From the start of the load to the first message.
    pub start_delay: Duration,
    /// Each publisher waits for a random part of this on top.
    pub random_start_delay: Duration,
}

impl PublisherGroup {
    /// Every body has room for a stamp, or travels with one in a header.
    pub fn is_stamped(&self) -> bool {
        let mut sizes = self.sizes.iter().map(|step| step.size_bytes).chain([self.size_bytes]);
        self.has_stamp_headers() || sizes.all(|size| size >= STAMP_BYTES)
    }

    /// The body must stay as it is: the time stamp travels in a header.
    pub fn has_stamp_headers(&self) -> bool {
        self.body != Body::Filler || self.packing.is_packed()
    }
}

/// A confirm window without a limit.
pub const NO_WINDOW: u32 = u32::MAX;

/// Consumers that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of consumers.
    pub count: u32,
    /// Connections over which they are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its consumers are spread.
    pub channels: u32,
    /// The queue they read, or the set of queues over which they are spread.
    pub queue: String,
    /// Which of these queues a consumer reads.
    pub member_queues: MemberQueues,
    /// `basic.qos` for each consumer; absent: unlimited.
    pub prefetch: Option<u16>,
    /// `basic.qos` for each channel; absent: unlimited.
    pub channel_prefetch: Option<u16>,
    /// The broker forgets a message when it is sent.
    pub auto_ack: bool,
    /// Acknowledge this many messages with one frame; 1 acknowledges each.
    pub multi_ack_every: u32,
    /// Acknowledged or refused.
    pub settle: Settle,
    /// Messages in a transaction, whose acknowledgements are committed together.
    pub tx_size: Option<u32>,
    /// Messages a second for each consumer; absent: as fast as it goes.
    pub rate: Option<f64>,
    /// How long each message is held before it is settled.
    pub processing_time: Duration,
    /// Processing times that change over time; when there are any, `processing_time` is the first.
    pub processing_times: Vec<ProcessingStep>,
    /// Asks for each message (`basic.get`) instead of consuming, this long after the last answer.
    pub polling: Option<Duration>,
    /// No other consumer may read the queue.
    pub exclusive: bool,
    /// Messages are taken apart when they arrive, where publishers of the scenario pack them.
    pub unpack: bool,
    /// Arguments of `basic.consume`, such as `x-stream-offset`.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Messages for each consumer, after which it stops; absent: no limit.
    pub messages: Option<u64>,
    /// From the start of the load to the first consumer.
    pub start_delay: Duration,
    /// From one consumer of the group to the next.
    pub slow_start: Duration,
}

/// A profile that is taken while the load runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileSpec {
    /// What is sampled.
    pub event: ProfileEvent,
    /// Time between start of load and start of the recording.
    pub delay: Duration,
    /// Length of the recording.
    pub duration: Duration,
    /// Ticks a second on each CPU.
    pub freq_hz: u32,
}

/// Packets and sockets that are looked at while the load runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketsSpec {
    /// Length of the capture, from the start of the load on; it begins with the first connection.
    pub duration: Duration,
    /// Whether the packets are kept, without credentials and bodies of messages.
    pub save: bool,
}

impl Scenario {
    /// The queues that a group's `queue` stands for.
    pub fn queue_names(&self, reference: &str) -> Vec<String> {
        let set = self.queues.iter().find(|queue| queue.name == reference);
        set.map_or_else(|| vec![reference.to_owned()], QueueSpec::queue_names)
    }

    /// The entry that a group's `queue` refers to, as a whole or to one of its queues.
    pub fn queue_spec(&self, reference: &str) -> Option<&QueueSpec> {
        self.queues.iter().find(|queue| queue.is_meant_by(reference))
    }
}

impl QueueSpec {
    /// `reference` is this entry's name or one of its queues.
    pub fn is_meant_by(&self, reference: &str) -> bool {
        let is_set = self.names != QueueNames::One;
        self.name == reference || is_set && self.queue_names().iter().any(|name| name == reference)
    }

    /// Every queue that this stands for, as far as names are known: none of those that the broker names.
    pub fn queue_names(&self) -> Vec<String> {
        match &self.names {
            QueueNames::One => vec![self.name.clone()],
            QueueNames::Numbered(range) => range.names(&self.name).collect(),
            QueueNames::Listed(names) => names.clone(),
            QueueNames::ByBroker => Vec::new(),
        }
    }

    /// Routing keys of `binding` for each of the queues.
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
    /// It comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule.ends()
    }
}

impl QueueType {
    /// Value of the argument `x-queue-type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Quorum => "quorum",
            Self::Stream => "stream",
        }
    }
}
