//! Objects that the flows use, with assumptions where they are unknown.

use std::collections::{BTreeMap, BTreeSet};

use rabbitscope_runs::scenario::FieldValue;

use crate::{
    observe::{Protocol, PublishFlow, ReadFlow},
    topology::{Binding, Destination, Exchange, Objects, Queue, is_predeclared},
};

/// Beginning of names that RabbitMQ reserves for replies.
const DIRECT_REPLY_TO: &str = "amq.rabbitmq.reply-to";

/// Objects of a virtual host that a scenario needs.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) objects: Objects,
    /// Names of exchanges that publishers use, or messages pass.
    pub(super) exchanges: BTreeSet<String>,
    /// Names of queues that are published to, read, or reached.
    pub(super) queues: BTreeSet<String>,
    /// The queue of each flow of deliveries.
    pub(super) read: Vec<String>,
    pub(super) assumptions: Vec<String>,
}

/// Returns whether a name is that of direct replies.
pub(super) fn is_direct_reply(name: &str) -> bool {
    name.starts_with(DIRECT_REPLY_TO)
}

impl Uses {
    pub(super) fn new(objects: Objects, publishes: &[&PublishFlow], reads: &[&ReadFlow]) -> Self {
        let mut uses = Self { objects, ..Self::default() };
        uses.publish(publishes);
        uses.read(reads);
        uses.reach();
        uses
    }

    fn publish(&mut self, flows: &[&PublishFlow]) {
        for flow in flows {
            let exchange = &flow.key.exchange;
            if !exchange.is_empty() {
                self.exchanges.insert(exchange.clone());
                continue;
            }
            for (key, _) in flow.routing_keys.ranked() {
                match flow.protocol {
                    Protocol::Stream => self.stream(key),
                    _ if key.starts_with("amq.") || key.is_empty() => {}
                    _ => self.queue(key),
                }
            }
        }
        for exchange in self.exchanges.clone() {
            self.exchange(&exchange);
        }
    }

    /// Adds a stream. Clients of its protocol show its type.
    fn stream(&mut self, name: &str) {
        let queue = self.objects.queues.entry(name.to_owned()).or_insert_with(|| {
            self.assumptions.push(format!(
                "stream {}: nobody declared it while it was observed; taken for one without limits",
                quoted(name)
            ));
            Queue { durable: true, ..Queue::default() }
        });
        let kind = FieldValue::Text("stream".to_owned());
        queue.arguments.insert("x-queue-type".to_owned(), kind);
        self.queues.insert(name.to_owned());
    }

    /// Adds a used queue. One of which nothing is known becomes a durable classic queue.
    fn queue(&mut self, name: &str) {
        if !self.objects.queues.contains_key(name) {
            self.assumptions.push(format!(
                "queue {}: nobody declared it while it was observed; taken for a durable classic queue",
                quoted(name)
            ));
            let server_named = name.starts_with("amq.gen-");
            let durable = !server_named;
            let queue =
                Queue { durable, auto_delete: server_named, server_named, ..Queue::default() };
            self.objects.queues.insert(name.to_owned(), queue);
        }
        self.queues.insert(name.to_owned());
    }

    fn exchange(&mut self, name: &str) {
        if is_predeclared(name) || self.objects.exchanges.contains_key(name) {
            return;
        }
        self.assumptions.push(format!(
            "exchange {}: nobody declared it while it was observed; taken for a durable topic exchange",
            quoted(name)
        ));
        let exchange = Exchange {
            kind: "topic".to_owned(),
            durable: true,
            auto_delete: false,
            internal: false,
            arguments: BTreeMap::new(),
        };
        self.objects.exchanges.insert(name.to_owned(), exchange);
    }

    fn read(&mut self, flows: &[&ReadFlow]) {
        let mut unknown: BTreeMap<Vec<(String, String)>, String> = BTreeMap::new();
        for flow in flows {
            let queue = flow.queue.clone().or_else(|| self.found(flow)).unwrap_or_else(|| {
                let routes: Vec<_> =
                    flow.routes.ranked().into_iter().map(|(route, _)| route.clone()).collect();
                let next = format!("unknown-{}", unknown.len() + 1);
                unknown.entry(routes).or_insert(next).clone()
            });
            if flow.protocol == Protocol::Stream {
                self.stream(&queue);
            } else if !is_direct_reply(&queue) {
                self.queue(&queue);
                self.bind(&queue, flow);
            }
            self.read.push(queue);
        }
        if !unknown.is_empty() {
            self.assumptions.push(format!(
                "queues named `unknown-…` ({}): their consumers began before the capture; consumers with the same \
                 exchanges and keys share one",
                unknown.len()
            ));
        }
    }

    /// Returns the only queue from which the deliveries of a flow can have come.
    fn found(&self, flow: &ReadFlow) -> Option<String> {
        let ((exchange, key), _) = flow.routes.most_frequent()?;
        if exchange.is_empty() {
            return Some(key.clone());
        }
        let behind = self.objects.queues_behind(exchange);
        match behind.len() {
            1 => behind.first().map(|queue| (*queue).to_owned()),
            _ => None,
        }
    }

    /// Binds a queue to the exchanges of its deliveries, as far as no binding explains them.
    fn bind(&mut self, queue: &str, flow: &ReadFlow) {
        for ((exchange, key), _) in flow.routes.ranked() {
            let is_published = self.exchanges.contains(exchange);
            if !is_published || self.objects.queues_behind(exchange).contains(queue) {
                continue;
            }
            let is_known = self
                .objects
                .bindings
                .iter()
                .any(|binding| binding.source == *exchange && binding.destination == queue);
            if !is_known {
                self.assumptions.push(format!(
                    "binding of queue {} to exchange {}: taken from the keys of deliveries",
                    quoted(queue),
                    quoted(exchange)
                ));
            }
            self.objects.bind(Binding {
                source: exchange.clone(),
                destination: queue.to_owned(),
                kind: Destination::Queue,
                routing_key: key.clone(),
                arguments: BTreeMap::new(),
            });
        }
    }

    /// Adds everything that messages reach: queues behind exchanges, alternate exchanges and dead letters.
    fn reach(&mut self) {
        loop {
            let before = (self.exchanges.len(), self.queues.len());
            for exchange in self.exchanges.clone() {
                let queues: Vec<String> =
                    self.objects.queues_behind(&exchange).into_iter().map(str::to_owned).collect();
                for queue in &queues {
                    self.queue(queue);
                }
                self.between(&exchange);
            }
            for next in self.next_exchanges() {
                self.exchange(&next);
                self.exchanges.insert(next);
            }
            if before == (self.exchanges.len(), self.queues.len()) {
                return;
            }
        }
    }

    /// Adds exchanges that an exchange is bound to.
    fn between(&mut self, exchange: &str) {
        let bound =
            self.objects.bindings.iter().filter(|binding| {
                binding.source == exchange && binding.kind == Destination::Exchange
            });
        let bound: Vec<String> = bound.map(|binding| binding.destination.clone()).collect();
        for destination in bound {
            self.exchange(&destination);
            self.exchanges.insert(destination);
        }
    }

    fn next_exchanges(&self) -> Vec<String> {
        let text = |value: Option<&FieldValue>| match value {
            Some(FieldValue::Text(text)) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let queues = self.queues.iter().filter_map(|name| self.objects.queues.get(name));
        let dead = queues.filter_map(|queue| text(queue.arguments.get("x-dead-letter-exchange")));
        let exchanges = self.exchanges.iter().filter_map(|name| self.objects.exchanges.get(name));
        let alternate =
            exchanges.filter_map(|exchange| text(exchange.arguments.get("alternate-exchange")));
        dead.chain(alternate).collect()
    }
}

/// Returns a name as a TOML text.
pub(crate) fn quoted(name: &str) -> String {
    serde_json::to_string(name).unwrap_or_default()
}
