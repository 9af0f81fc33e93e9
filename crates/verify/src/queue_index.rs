//! The queues of a scenario, by number.

use std::collections::HashMap;

use rabbitscope_runs::scenario::{ConsumerGroup, FieldValue, Protocol, QueueType, Scenario};

/// Every queue that the scenario declares or reads, with its number.
#[derive(Clone, Debug, Default)]
pub struct QueueIndex {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    kinds: Vec<Kind>,
}

/// Properties of a queue that matter for verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind {
    /// True for a stream: each consumer receives every message, and can read it again.
    pub(super) is_stream: bool,
    /// True if the queue has a dead-letter exchange.
    pub(super) dead_letters: bool,
}

impl QueueIndex {
    /// Returns the queues of a scenario.
    pub fn from_scenario(scenario: &Scenario) -> Self {
        let mut queues = Self::default();
        for spec in &scenario.queues {
            let kind = Kind {
                is_stream: spec.queue_type == QueueType::Stream,
                dead_letters: spec.arguments.contains_key("x-dead-letter-exchange"),
            };
            for name in spec.queue_names() {
                queues.add(name, kind);
            }
        }
        for group in &scenario.consumers {
            for name in scenario.sources(group) {
                queues.add(name, Kind { is_stream: reads_stream(group), ..Kind::default() });
            }
        }
        queues
    }

    fn add(&mut self, name: String, kind: Kind) {
        if !self.numbers.contains_key(&name) {
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.numbers.insert(name.clone(), number);
            self.names.push(name);
            self.kinds.push(kind);
        }
    }

    /// Returns the number of a queue.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Returns the names in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn kind(&self, queue: u32) -> Kind {
        self.kinds.get(queue as usize).copied().unwrap_or_default()
    }
}

/// Returns whether the group reads its queue as a stream. That makes a queue a stream if the scenario does not declare
/// it. Subscriptions by MQTT are read like streams: each consumer receives every message.
fn reads_stream(group: &ConsumerGroup) -> bool {
    group.arguments.contains_key("x-stream-offset") || group.protocol == Protocol::Mqtt
}

/// Returns whether the consumers of the group begin a stream at its first message.
pub(super) fn reads_all(group: &ConsumerGroup) -> bool {
    if group.is_subscribed_from_the_start() {
        return true;
    }
    let offset = group.arguments.get("x-stream-offset");
    offset == Some(&FieldValue::Text("first".to_owned())) || offset == Some(&FieldValue::Integer(0))
}
