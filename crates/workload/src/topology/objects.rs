//! Objects of virtual hosts.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use rabbitscope_runs::scenario::FieldValue;

use super::{
    consumers::{Connection, Consumer, ConsumerPlace, KnownLink, LinkPlace, StreamPublisher},
    node::NodeFacts,
};

/// Beginning and ends of the names of queues that the broker declares for subscriptions by MQTT.
const SUBSCRIPTION: &str = "mqtt-subscription-";
const ENDS: [&str; 2] = ["qos0", "qos1"];

/// The broker's own exchanges of the type `headers`.
const BY_HEADERS: [&str; 2] = ["amq.headers", "amq.match"];

/// A table of arguments.
pub(crate) type Arguments = BTreeMap<String, FieldValue>;

/// Objects by virtual host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    pub(crate) vhosts: BTreeMap<String, Objects>,
    /// By the client's address.
    pub(crate) connections: BTreeMap<SocketAddr, Connection>,
    pub(crate) consumers: BTreeMap<ConsumerPlace, Consumer>,
    /// Links of AMQP 1.0 of a node that tells them.
    pub(crate) links: BTreeMap<LinkPlace, KnownLink>,
    /// Publishers of streams, by the client's address and their number on its connection.
    pub(crate) publishers: BTreeMap<(SocketAddr, u8), StreamPublisher>,
    /// The node; absent if it is unknown.
    pub(crate) node: Option<NodeFacts>,
}

/// Objects of a virtual host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Objects {
    pub(crate) exchanges: BTreeMap<String, Exchange>,
    pub(crate) queues: BTreeMap<String, Queue>,
    /// Messages that waited in queues, of a node that counts them.
    pub(crate) ready: BTreeMap<String, u64>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) policies: Vec<Policy>,
    /// Bindings as text, so that none is there twice.
    known: BTreeSet<String>,
}

/// An exchange.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) kind: String,
    pub(crate) durable: bool,
    pub(crate) auto_delete: bool,
    pub(crate) internal: bool,
    pub(crate) arguments: Arguments,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `queue.declare`, and ours")]
pub(crate) struct Queue {
    pub(crate) durable: bool,
    pub(crate) auto_delete: bool,
    pub(crate) exclusive: bool,
    /// True if the broker chose the name.
    pub(crate) server_named: bool,
    pub(crate) arguments: Arguments,
}

/// The kind of a binding's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Destination {
    Queue,
    Exchange,
}

/// A binding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    pub(crate) source: String,
    pub(crate) destination: String,
    pub(crate) kind: Destination,
    pub(crate) routing_key: String,
    pub(crate) arguments: Arguments,
}

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Policy {
    pub(crate) name: String,
    pub(crate) pattern: String,
    pub(crate) apply_to: String,
    pub(crate) definition: serde_json::Value,
    pub(crate) priority: i64,
}

impl Policy {
    /// Returns whether the policy links brokers: a run must not move messages of others.
    pub(crate) fn is_link(&self) -> bool {
        let definition = self.definition.as_object();
        definition.is_some_and(|keys| keys.keys().any(|key| key.starts_with("federation")))
    }
}

/// Returns whether the broker has this exchange by itself.
pub(crate) fn is_predeclared(exchange: &str) -> bool {
    exchange.is_empty() || exchange.starts_with("amq.")
}

/// Returns whether the exchange is a mark that a run of rabbitscope left: `rabbitscope.<token>.<object>`.
pub(crate) fn is_marker(exchange: &str) -> bool {
    let mut parts = exchange.split('.');
    parts.next() == Some("rabbitscope") && parts.next().is_some_and(|token| token.len() >= 8)
}

/// Returns the quality of service of a queue that the broker declares for a subscription by MQTT:
/// `mqtt-subscription-IDqos1`. None if the queue is another one.
pub(crate) fn quality_of_subscription(queue: &str) -> Option<u8> {
    let rest = queue.strip_prefix(SUBSCRIPTION)?;
    [0, 1].into_iter().zip(ENDS).find_map(|(qos, end)| rest.ends_with(end).then_some(qos))
}

/// Returns the names of the queues that the broker declares for a client of MQTT.
pub(crate) fn subscriptions_of(client_id: &str) -> [String; 2] {
    ENDS.map(|end| format!("{SUBSCRIPTION}{client_id}{end}"))
}

fn is_subscription(queue: &str) -> bool {
    quality_of_subscription(queue).is_some()
}

impl Topology {
    /// Adds the objects that another source has and this one lacks.
    pub fn add_missing(&mut self, other: Self) {
        for (vhost, objects) in other.vhosts {
            self.vhosts.entry(vhost).or_default().add_missing(objects);
        }
        self.connections.extend(other.connections);
        for (place, consumer) in other.consumers {
            self.consumers.entry(place).or_insert(consumer);
        }
        for (place, link) in other.links {
            self.links.entry(place).or_insert(link);
        }
        for (place, publisher) in other.publishers {
            self.publishers.entry(place).or_insert(publisher);
        }
        // A running node knows more of itself than its definitions.
        self.node = other.node.or(self.node.take());
    }

    /// Removes the queues that the broker itself declares for subscriptions by MQTT.
    pub(crate) fn remove_subscriptions(&mut self) {
        self.vhosts.values_mut().for_each(Objects::remove_subscriptions);
    }

    /// Removes a virtual host, and returns its objects and the exchanges that route by headers. These now route each message
    /// to all their queues.
    pub(crate) fn take_vhost(&mut self, vhost: &str) -> (Objects, BTreeSet<String>) {
        let mut objects = self.vhosts.remove(vhost).unwrap_or_default();
        let by_headers = objects.ignore_headers();
        (objects, by_headers)
    }

    /// Returns whether the node keeps statistics, as far as it told its settings.
    pub fn keeps_statistics(&self) -> bool {
        self.node.as_ref().is_some_and(NodeFacts::keeps_statistics)
    }

    /// Returns whether connections of the node have TLS.
    pub fn has_tls(&self) -> bool {
        self.connections.values().any(|connection| !connection.tls.is_empty())
    }

    /// Returns the number of exchanges, queues and bindings.
    pub fn objects(&self) -> [usize; 3] {
        let sum = |count: fn(&Objects) -> usize| self.vhosts.values().map(count).sum();
        [
            sum(|objects| objects.exchanges.len()),
            sum(|objects| objects.queues.len()),
            sum(|objects| objects.bindings.len()),
        ]
    }
}

impl Objects {
    fn add_missing(&mut self, other: Self) {
        for (name, exchange) in other.exchanges {
            self.exchanges.entry(name).or_insert(exchange);
        }
        for (name, queue) in other.queues {
            self.queues.entry(name).or_insert(queue);
        }
        for (queue, ready) in other.ready {
            self.ready.entry(queue).or_insert(ready);
        }
        for binding in other.bindings {
            self.bind(binding);
        }
        if self.policies.is_empty() {
            self.policies = other.policies;
        }
    }

    /// Adds a binding, unless it is there.
    pub(crate) fn bind(&mut self, binding: Binding) {
        if self.known.insert(format!("{binding:?}")) {
            self.bindings.push(binding);
        }
    }

    fn remove_subscriptions(&mut self) {
        self.queues.retain(|name, _| !is_subscription(name));
        self.ready.retain(|name, _| !is_subscription(name));
        for binding in self.take_bindings() {
            if !is_subscription(&binding.destination) {
                self.bind(binding);
            }
        }
    }

    /// Lets exchanges of the type `headers` route each message to all their queues, and returns their names. The values of
    /// messages' headers are not read.
    fn ignore_headers(&mut self) -> BTreeSet<String> {
        let declared = self.exchanges.iter().filter(|(_, exchange)| exchange.kind == "headers");
        let declared = declared.map(|(name, _)| name.clone());
        let names: BTreeSet<String> = declared.chain(BY_HEADERS.map(str::to_owned)).collect();
        for mut binding in self.take_bindings() {
            if names.contains(&binding.source) {
                let all = FieldValue::Text("all".to_owned());
                binding.arguments = Arguments::from([("x-match".to_owned(), all)]);
            }
            self.bind(binding);
        }
        names
    }

    /// Removes all bindings, and returns them.
    pub(crate) fn take_bindings(&mut self) -> Vec<Binding> {
        self.known.clear();
        core::mem::take(&mut self.bindings)
    }

    /// Returns the queues that an exchange routes to, directly or through others.
    pub(crate) fn queues_behind(&self, exchange: &str) -> BTreeSet<&str> {
        let (mut queues, mut known) = (BTreeSet::new(), BTreeSet::from([exchange]));
        let mut open = vec![exchange];
        while let Some(source) = open.pop() {
            for binding in self.bindings.iter().filter(|binding| binding.source == source) {
                let destination = binding.destination.as_str();
                match binding.kind {
                    Destination::Queue => drop(queues.insert(destination)),
                    Destination::Exchange if known.insert(destination) => open.push(destination),
                    Destination::Exchange => {}
                }
            }
        }
        queues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_subscriptions_are_known_by_their_names() {
        fn check(queue: &str, expected: Option<u8>) {
            assert_eq!(quality_of_subscription(queue), expected, "{queue}");
        }
        check("mqtt-subscription-device-7qos1", Some(1));
        check("mqtt-subscription-qos0", Some(0));
        check("mqtt-subscription-x", None);
        check("orders.qos1", None);
        assert_eq!(quality_of_subscription(&subscriptions_of("x")[1]), Some(1));
    }
}
