//! Exchanges, queues and bindings that clients declare while they are observed.

use rabbitscope_runs::scenario::FieldValue;
use rabbitscope_wire::activity::{self, ExchangeDeclare, QueueDeclare, Value};

use crate::topology::{
    Arguments, Binding, Destination, Exchange, Queue, Topology, is_marker, is_predeclared,
};

/// Maximum of objects of each kind.
const OBJECTS_MAX: usize = 65_536;

/// Declared objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) topology: Topology,
    /// Number of declarations that found no room.
    pub(crate) left_out: u64,
    /// Number of arguments that RabbitMQ does not know, and which are therefore not read.
    pub(crate) private_arguments: u64,
}

impl Seen {
    fn has_room(&mut self) -> bool {
        let has_room = self.topology.objects().into_iter().all(|count| count < OBJECTS_MAX);
        self.left_out += u64::from(!has_room);
        has_room
    }

    pub(super) fn exchange(&mut self, vhost: &str, declare: &ExchangeDeclare<'_>) {
        let name = text(declare.exchange);
        if declare.passive || is_predeclared(&name) || is_marker(&name) || !self.has_room() {
            return;
        }
        let exchange = Exchange {
            kind: text(declare.kind),
            durable: declare.durable,
            auto_delete: declare.auto_delete,
            internal: declare.internal,
            arguments: self.arguments(declare.arguments),
        };
        let objects = self.topology.vhosts.entry(vhost.to_owned()).or_default();
        objects.exchanges.insert(name, exchange);
    }

    /// Returns the queue of a declaration; none if it must exist already.
    pub(super) fn declared(&mut self, declare: &QueueDeclare<'_>) -> Option<Queue> {
        (!declare.passive).then(|| Queue {
            durable: declare.durable,
            auto_delete: declare.auto_delete,
            exclusive: declare.exclusive,
            server_named: declare.queue.is_empty(),
            arguments: self.arguments(declare.arguments),
        })
    }

    pub(super) fn queue(&mut self, vhost: &str, name: &str, queue: Queue) {
        if self.has_room() {
            let objects = self.topology.vhosts.entry(vhost.to_owned()).or_default();
            objects.queues.insert(name.to_owned(), queue);
        }
    }

    /// Adds a binding. `destination` replaces an empty name.
    pub(super) fn binding(
        &mut self,
        vhost: &str,
        binding: &activity::Binding<'_>,
        (kind, destination): (Destination, &str),
    ) {
        let source = text(binding.source);
        if source.is_empty() || is_marker(&source) || is_marker(destination) || !self.has_room() {
            return;
        }
        let arguments = self.arguments(binding.arguments);
        let routing_key = text(binding.routing_key);
        let destination = destination.to_owned();
        let objects = self.topology.vhosts.entry(vhost.to_owned()).or_default();
        objects.bind(Binding { source, destination, kind, routing_key, arguments });
    }

    fn arguments(&mut self, arguments: activity::Arguments<'_>) -> Arguments {
        self.private_arguments += arguments.unknown() as u64;
        let known = arguments.known().filter_map(|(key, value)| {
            let value = match value {
                Value::Bool(value) => FieldValue::Bool(value),
                Value::Integer(value) => FieldValue::Integer(value),
                Value::Text(value) => FieldValue::Text(text(value)),
                Value::Other => return None,
            };
            Some((text(key), value))
        });
        known.collect()
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
