//! A scenario as a whole.

use serde::{Deserialize, Serialize};

use super::{
    Broker, BrokerSpec, ChurnGroup, ConsumerGroup, ExchangeSpec, Expect, FaultSpec, PacketsSpec,
    PollerGroup, ProfileSpec, Protocol, PublisherGroup, QueueSpec, QueueType, RequestGroup,
    ResponderGroup, RunOptions, Seed,
};

/// A scenario to run. Serialises to the resolved form that is kept in `scenario.toml` and `run.json`, without secrets.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Short name, used for the run directory: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// One or two sentences for the report.
    #[serde(default)]
    pub description: String,
    /// Seed of everything that is random.
    #[serde(default)]
    pub seed: Seed,
    /// The broker under load.
    #[serde(default)]
    pub broker: Broker,
    /// End and options of the run.
    #[serde(default)]
    pub run: RunOptions,
    /// The profile to record during the load.
    pub profile: Option<ProfileSpec>,
    /// The packets to capture during the load.
    pub packets: Option<PacketsSpec>,
    /// Expectations of the run.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// Exchanges declared before the queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<ExchangeSpec>,
    /// Queues declared before the load starts.
    #[serde(default)]
    pub queues: Vec<QueueSpec>,
    /// Groups of publishers.
    #[serde(default)]
    pub publishers: Vec<PublisherGroup>,
    /// Groups of consumers.
    #[serde(default)]
    pub consumers: Vec<ConsumerGroup>,
    /// Groups of callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestGroup>,
    /// Groups of responders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responders: Vec<ResponderGroup>,
    /// Objects that come and go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub churn: Vec<ChurnGroup>,
    /// Groups of HTTP pollers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pollers: Vec<PollerGroup>,
    /// Faults of the broker's nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
}

/// Protocols that need a plugin.
const PLUGINS: [(Protocol, &str); 3] = [
    // Since 4.0 it does nothing.
    (Protocol::Amqp10, "rabbitmq_amqp1_0"),
    (Protocol::Stream, "rabbitmq_stream"),
    (Protocol::Mqtt, "rabbitmq_mqtt"),
];

impl Scenario {
    /// Returns whether a group uses this protocol.
    pub fn uses(&self, protocol: Protocol) -> bool {
        let publishers = self.publishers.iter().map(|group| group.protocol);
        let mut all = publishers.chain(self.consumers.iter().map(|group| group.protocol));
        all.any(|used| used == protocol)
    }

    /// Adds the plugins of the groups' protocols to a throwaway broker.
    pub fn enable_plugins(&mut self) {
        let used: Vec<_> =
            PLUGINS.into_iter().filter(|(protocol, _)| self.uses(*protocol)).collect();
        let BrokerSpec::Throwaway(broker) = &mut self.broker.spec else { return };
        for (_, name) in used {
            if !broker.plugins.iter().any(|plugin| plugin == name) {
                broker.plugins.push(name.to_owned());
            }
        }
    }

    /// Returns the names under which a group's messages are counted: its queues, or the topics to which each of its
    /// consumers subscribes.
    pub fn sources(&self, group: &ConsumerGroup) -> Vec<String> {
        match &group.topics[..] {
            [] => self.queue_names(&group.queue),
            topics => vec![format!("mqtt {}", topics.join(" "))],
        }
    }

    /// Returns the queues that a group's `queue` stands for.
    pub fn queue_names(&self, reference: &str) -> Vec<String> {
        let set = self.queues.iter().find(|queue| queue.name == reference);
        set.map_or_else(|| vec![reference.to_owned()], QueueSpec::queue_names)
    }

    /// Returns the partitions of the super stream with this exchange, in their order; `None` if there is none.
    pub fn partitions(&self, exchange: &str) -> Option<Vec<String>> {
        partitions(&self.queues, exchange).map(QueueSpec::queue_names)
    }

    /// Returns the entry that a group's `queue` refers to, as a whole or by one of its queues.
    pub fn queue_spec(&self, reference: &str) -> Option<&QueueSpec> {
        self.queues.iter().find(|queue| queue.is_meant_by(reference))
    }
}

/// Returns the partitions of the super stream with this exchange; `None` if there is none.
pub(in crate::scenario) fn partitions<'a>(
    queues: &'a [QueueSpec],
    exchange: &str,
) -> Option<&'a QueueSpec> {
    let is_set = |queue: &&QueueSpec| queue.name.strip_suffix("-{}") == Some(exchange);
    let is_of_streams = |queue: &&QueueSpec| queue.queue_type == QueueType::Stream;
    queues.iter().filter(is_of_streams).find(is_set)
}
