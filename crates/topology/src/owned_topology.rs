//! The objects that a run declares on a broker and has to remove, with the proof that they are still the run's own.
//!
//! AMQP does not tell who declared a queue, and a name proves nothing. The same name may exist on another broker, or
//! another program may have declared it again. The run therefore declares a marker for each queue and exchange: an
//! exchange with a unique name that is bound to it. The broker deletes the binding with the queue or exchange, and
//! refuses to delete an exchange with bindings `if-unused`. A marker whose deletion is refused proves that its object
//! is the one that the run declared. A missing marker proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use rabbitscope_runs::scenario::{ExchangeSpec, FieldValue, QueueType, Scenario};
use serde::{Deserialize, Serialize};

use super::declarations::{CreatedObjects, Declarations, Needs, QueueSet};

/// Objects of a run on the broker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnedTopology {
    /// 32 hexadecimal digits, unique to this run. They are part of the names of the markers.
    pub token: String,
    /// Queues.
    pub queues: Vec<OwnedQueue>,
    /// Exchanges.
    pub exchanges: Vec<OwnedExchange>,
    /// Bindings of queues that may belong to others. Their keys contain the token.
    pub bindings: Vec<OwnedBinding>,
    /// Bindings of the run's own queues and exchanges. All other bindings are not the run's.
    #[serde(default)]
    pub bound: Vec<BoundObject>,
}

/// A binding of a queue or exchange of the run, as the scenario demands it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BoundObject {
    /// The destination queue or exchange.
    pub name: String,
    /// The destination is a queue.
    pub is_queue: bool,
    /// The source exchange.
    pub exchange: String,
    /// The routing key.
    pub routing_key: String,
}

/// A queue or exchange, by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) is_queue: bool,
}

impl BoundObject {
    pub(super) fn is_of(&self, subject: &Subject<'_>) -> bool {
        self.is_queue == subject.is_queue && self.name == subject.name
    }

    /// The source exchange and the routing key.
    pub(super) fn way(&self) -> (&str, &str) {
        (&self.exchange, &self.routing_key)
    }
}

/// A queue that a run declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnedQueue {
    /// Name of the queue.
    pub name: String,
    /// Declared type of the queue.
    pub queue_type: QueueType,
    /// True if the queue and its marker survive a restart of the broker.
    pub durable: bool,
    /// True if the record claims that the name contains the token. If the name really does, it is proof enough.
    pub named_by_token: bool,
}

/// An exchange that a run declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnedExchange {
    /// Name of the exchange.
    pub name: String,
    /// True if the exchange survives a restart of the broker.
    pub durable: bool,
}

/// A binding that a run makes and removes again while the load runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnedBinding {
    /// The queue.
    pub queue: String,
    /// The exchange.
    pub exchange: String,
    /// The key.
    pub routing_key: String,
    /// Arguments. Bindings with different arguments are different bindings.
    pub arguments: BTreeMap<String, FieldValue>,
}

impl OwnedTopology {
    /// Selects the part of `needs` that has to be removed after the run with this token.
    pub fn from_needs(needs: &Needs, token: &str) -> Self {
        let sets = needs.missing.queues.iter().filter(|set| !set.spec.keep && !set.spec.exclusive);
        let queues = sets.flat_map(|set| {
            set.names.iter().map(|name| OwnedQueue {
                name: name.clone(),
                queue_type: set.spec.queue_type,
                durable: set.spec.durable,
                named_by_token: false,
            })
        });
        let exchanges = needs.missing.exchanges.iter().filter(|exchange| !exchange.keep);
        let exchanges =
            exchanges.map(|spec| OwnedExchange { name: spec.name.clone(), durable: spec.durable });
        Self {
            token: token.to_owned(),
            queues: queues.collect(),
            exchanges: exchanges.collect(),
            bindings: Vec::new(),
            bound: bound_by(&needs.missing),
        }
    }

    /// Returns whether the name of this queue is proof enough: no other run and no application can have chosen it.
    pub(super) fn is_known_by_name(&self, queue: &OwnedQueue) -> bool {
        queue.named_by_token && self.is_named_by_token(&queue.name)
    }

    /// Returns the run's own objects of `scenario`, for a new declaration.
    pub fn declarations(&self, scenario: &Scenario) -> Declarations {
        let is_own =
            |spec: &&ExchangeSpec| self.exchanges.iter().any(|owned| owned.name == spec.name);
        let names: BTreeSet<_> = self.queues.iter().map(|queue| queue.name.as_str()).collect();
        let sets = scenario
            .queues
            .iter()
            .map(|spec| QueueSet::select(spec, |_, name| names.contains(name)));
        Declarations {
            exchanges: scenario.exchanges.iter().filter(is_own).cloned().collect(),
            queues: sets.filter(|set| !set.names.is_empty()).collect(),
        }
    }

    /// Returns whether the token is valid. It is a part of the names of markers and files.
    pub fn has_token(&self) -> bool {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        self.token.len() == 32 && self.token.bytes().all(is_digit)
    }

    /// Returns whether a queue name or routing key belongs only to this run.
    pub(super) fn is_named_by_token(&self, name: &str) -> bool {
        self.has_token() && name.starts_with(&churn_prefix(&self.token))
    }

    /// Returns the part among these queues and exchanges. Markers are numbered by index, so the part has no markers.
    #[must_use]
    pub fn only(&self, created: &CreatedObjects) -> Self {
        let CreatedObjects { queues, exchanges } = created;
        let queues = self.queues.iter().filter(|queue| queues.contains(&queue.name));
        let exchanges = self.exchanges.iter().filter(|exchange| exchanges.contains(&exchange.name));
        Self {
            queues: queues.cloned().collect(),
            exchanges: exchanges.cloned().collect(),
            ..self.clone()
        }
    }

    /// Returns whether nothing belongs to the run.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.exchanges.is_empty() && self.bindings.is_empty()
    }

    /// Describes all objects: "queue `q`", "exchange `e`".
    pub fn describe(&self) -> Vec<String> {
        let queues = self.queues.iter().map(|queue| format!("queue `{}`", queue.name));
        let exchanges =
            self.exchanges.iter().map(|exchange| format!("exchange `{}`", exchange.name));
        let bindings = self.bindings.iter().map(|binding| {
            format!(
                "binding of queue `{}` to `{}` by `{}`",
                binding.queue, binding.exchange, binding.routing_key
            )
        });
        queues.chain(exchanges).chain(bindings).collect()
    }
}

/// The prefix of names that the churn of the run with this token creates.
pub fn churn_prefix(token: &str) -> String {
    format!("rabbitscope-churn-{token}-")
}

/// Returns the bindings of these declarations.
fn bound_by(declarations: &Declarations) -> Vec<BoundObject> {
    let of_exchanges = declarations.exchanges.iter().flat_map(|spec| {
        spec.bindings.iter().map(|binding| BoundObject {
            name: spec.name.clone(),
            is_queue: false,
            exchange: binding.exchange.clone(),
            routing_key: binding.routing_key.clone(),
        })
    });
    let of_queues = declarations.queues.iter().flat_map(|set| {
        let bindings = set.spec.bindings.iter().zip(&set.keys);
        bindings.flat_map(|(binding, keys)| {
            set.names.iter().zip(keys).map(|(name, key)| BoundObject {
                name: name.clone(),
                is_queue: true,
                exchange: binding.exchange.clone(),
                routing_key: key.clone(),
            })
        })
    });
    of_exchanges.chain(of_queues).collect()
}
