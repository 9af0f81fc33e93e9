//! Queues, streams, and sets of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Binding, FieldValue, NumberRange,
    exchanges::{named, numbered},
};
use crate::scenario::model::values::{Arguments, is_zero, size, yes};

/// A queue or stream, or a set of them that differ by name only.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `queue.declare`, and ours")]
pub struct QueueSpec {
    /// Name of the queue; for a set, the name by which groups refer to it.
    pub name: String,
    /// The first number of a set whose name has a placeholder.
    pub from: Option<u32>,
    /// The last number of such a set.
    pub to: Option<u32>,
    /// The names of a set.
    pub names: Option<Vec<String>>,
    /// A file with the names of a set. Checks read it into `names`.
    #[serde(skip_serializing)]
    pub names_file: Option<String>,
    /// Makes a super stream of so many streams. Checks turn it into a set and an exchange.
    #[serde(skip_serializing)]
    pub partitions: Option<u32>,
    /// Each consumer declares a queue of its own, which the broker names.
    #[serde(default)]
    pub server_named: bool,
    /// Classic, quorum or stream.
    #[serde(rename = "type", default)]
    pub queue_type: QueueType,
    /// Survives a restart of the broker. Always true for quorum queues and streams.
    #[serde(default = "yes")]
    pub durable: bool,
    /// Belongs to the connection that declares it and goes away with it.
    #[serde(default)]
    pub exclusive: bool,
    /// Goes away with its last consumer.
    #[serde(default)]
    pub auto_delete: bool,
    /// The queue must already exist; it is neither declared nor removed.
    #[serde(default)]
    pub predeclared: bool,
    /// The queue is declared if it does not exist. An existing queue is used with any type and flags.
    #[serde(default)]
    pub if_missing: bool,
    /// A queue that existed before gets the bindings, too, and keeps them. Absent without bindings.
    pub bind_existing: Option<bool>,
    /// Leave the queue on the broker after the run (by default, the run removes its own declarations).
    #[serde(default)]
    pub keep: bool,
    /// Messages that wait in each queue when the load starts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub prefill: u64,
    /// Body size of these messages in bytes; absent without `prefill`.
    #[serde(default, with = "size", skip_serializing_if = "Option::is_none")]
    pub prefill_size: Option<u32>,
    /// Arguments of `queue.declare`, without `x-queue-type`.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub arguments: Arguments,
    /// Exchanges that route to the queue, besides the default exchange.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
}

/// Argument of the binding of a super stream's partition: its place, a number.
pub(in crate::scenario) const PARTITION_ORDER: &str = "x-stream-partition-order";

/// The queues that one `[[queues]]` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueNames<'a> {
    /// One queue with the entry's name.
    One,
    /// One queue for each number, which replaces the placeholder in the entry's name.
    Numbered(NumberRange),
    /// These queues; the entry's name is the name of the set.
    Listed(&'a [String]),
    /// One queue for each consumer, which declares it and gets its name from the broker.
    ByBroker,
}

/// The type of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueType {
    /// A classic queue.
    #[default]
    Classic,
    /// A replicated queue.
    Quorum,
    /// A replicated log.
    Stream,
}

impl QueueSpec {
    /// Returns the queues that the entry stands for.
    pub fn queues(&self) -> QueueNames<'_> {
        match (&self.names, self.to) {
            _ if self.server_named => QueueNames::ByBroker,
            (Some(names), _) => QueueNames::Listed(names),
            (None, Some(to)) => QueueNames::Numbered(NumberRange::new(self.from, to)),
            (None, None) => QueueNames::One,
        }
    }

    /// Returns whether `reference` is this entry's name or one of its queues.
    pub fn is_meant_by(&self, reference: &str) -> bool {
        let is_set = self.queues() != QueueNames::One;
        self.name == reference || is_set && self.queue_names().iter().any(|name| name == reference)
    }

    /// Returns every queue of the entry with a known name, so none of those that the broker names.
    pub fn queue_names(&self) -> Vec<String> {
        match self.queues() {
            QueueNames::One => vec![self.name.clone()],
            QueueNames::Numbered(range) => range.names(&self.name).collect(),
            QueueNames::Listed(names) => names.to_vec(),
            QueueNames::ByBroker => Vec::new(),
        }
    }

    /// Returns the routing keys of `binding` for each of the queues.
    pub fn binding_keys(&self, binding: &Binding) -> Vec<String> {
        match self.queues() {
            QueueNames::One | QueueNames::ByBroker => vec![binding.routing_key.clone()],
            QueueNames::Numbered(range) => range.names(&binding.routing_key).collect(),
            QueueNames::Listed(names) => {
                names.iter().map(|name| named(&binding.routing_key, name)).collect()
            }
        }
    }

    /// Returns a table of arguments for each of the queues, with placeholders replaced as in routing keys. Absent if
    /// the table is the same for all.
    pub fn arguments_of_each(
        &self,
        arguments: &BTreeMap<String, FieldValue>,
    ) -> Option<Vec<BTreeMap<String, FieldValue>>> {
        arguments.values().any(FieldValue::has_placeholder).then_some(())?;
        let with = |other: &dyn Fn(&str) -> String| {
            arguments.iter().map(|(name, value)| (name.clone(), value.with_texts(other))).collect()
        };
        match self.queues() {
            QueueNames::One | QueueNames::ByBroker => None,
            QueueNames::Numbered(NumberRange { from, to }) => {
                let tables = (from..=to).map(|number| {
                    let mut table: Arguments = with(&|text| numbered(text, number));
                    if let Some(order) = table.get_mut(PARTITION_ORDER) {
                        *order = FieldValue::Integer(number.into());
                    }
                    table
                });
                Some(tables.collect())
            }
            QueueNames::Listed(names) => {
                Some(names.iter().map(|name| with(&|text| named(text, name))).collect())
            }
        }
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
