//! Facts of a running node that the capture does not show: clients often began before it.

use super::{
    flows::Flows,
    mqtt::{Protocol, Version, filter},
    reading::{Prefetch, ReadFlow},
};
use crate::topology::{
    ConsumerPlace, Topology, canonical, quality_of_subscription, subscriptions_of,
};

impl Flows {
    /// Adds everything that the node knows of connections and consumers.
    pub(crate) fn complete(&mut self, topology: &Topology) {
        let connection = |client| topology.connections.get(&canonical(client));
        for flow in &mut self.publishes {
            if let Some(known) = flow.client.and_then(connection) {
                add(&mut flow.vhost, &mut flow.product, (&known.vhost, &known.product));
            }
        }
        for flow in &mut self.reads {
            if let Some(known) = flow.client.and_then(connection) {
                add(&mut flow.vhost, &mut flow.product, (&known.vhost, &known.product));
            }
            match flow.protocol {
                Protocol::Amqp091 => flow.complete(topology),
                Protocol::Amqp10 | Protocol::Stream => {}
                Protocol::Mqtt { qos, .. } => flow.subscribe(topology, qos),
            }
        }
        self.complete_links(topology);
        self.complete_versions();
    }

    /// Gives clients of unknown versions that of all others, or the earlier one.
    fn complete_versions(&mut self) {
        let of_publishes = self.publishes.iter_mut().map(|flow| &mut flow.protocol);
        let of_reads = self.reads.iter_mut().map(|flow| &mut flow.protocol);
        let mut all: Vec<&mut Protocol> = of_publishes.chain(of_reads).collect();
        let has = |wanted| {
            let is_it = |of: &&mut Protocol| matches!(of, Protocol::Mqtt { version, .. } if *version == wanted);
            all.iter().any(is_it)
        };
        let is_5 = has(Version::V5) && !has(Version::V3);
        let assumed = if is_5 { Version::V5 } else { Version::V3 };
        let mut count = 0;
        for protocol in &mut all {
            if let Protocol::Mqtt { version, .. } = protocol
                && *version == Version::Unknown
            {
                *version = assumed;
                count += 1;
            }
        }
        if count > 0 {
            let name = if is_5 { "5" } else { "3.1.1" };
            self.assumed.push(format!(
                "{count} clients of MQTT began before the capture, and their packets do not show their version: it is \
                 taken for {name}"
            ));
        }
    }
}

/// Adds virtual host and program, if they are not known already.
fn add(vhost: &mut Option<String>, product: &mut String, (of, by): (&String, &String)) {
    if vhost.is_none() && !of.is_empty() {
        *vhost = Some(of.clone());
        product.clone_from(by);
    }
}

impl ReadFlow {
    fn complete(&mut self, topology: &Topology) {
        let place = self
            .client
            .filter(|_| !self.is_polling)
            .map(|client| ConsumerPlace::new(client, self.channel, self.consumer_tag.clone()));
        let Some(known) = place.and_then(|place| topology.consumers.get(&place)) else { return };
        if let Some(qos) = quality_of_subscription(&known.queue) {
            // Its packets cannot be read.
            self.protocol = Protocol::Mqtt { version: Version::Unknown, qos };
            return self.subscribe(topology, qos);
        }
        self.vhost.get_or_insert_with(|| known.vhost.clone());
        self.no_ack.get_or_insert(known.no_ack);
        self.priority = self.priority.or(known.priority);
        if self.queue.is_none() {
            self.queue = Some(known.queue.clone());
            self.exclusive = known.exclusive;
        }
        if self.prefetch == Prefetch::Unknown {
            self.prefetch = match (known.prefetch, known.channel_prefetch) {
                (0, None) => Prefetch::Unknown,
                (0, Some(0)) => Prefetch::Unlimited,
                (0, Some(count)) => Prefetch::Channel(count),
                (count, _) => Prefetch::Consumer(count),
            };
        }
    }

    /// Completes the subscription of a client of MQTT: by the bindings of its queues, if the capture does not have it, or
    /// by the topics of its deliveries.
    fn subscribe(&mut self, topology: &Topology, qos: u8) {
        let queues = self.subscription_queues(topology);
        if let Some((vhost, _)) = queues.first() {
            self.vhost.get_or_insert_with(|| vhost.clone());
        }
        if self.subscription.is_seen || !self.subscription.filters.is_empty() {
            self.no_ack = Some(qos == 0);
            return;
        }
        let mut qos = qos;
        for (vhost, queue) in &queues {
            let bindings = topology.vhosts.get(vhost).into_iter().flat_map(|of| &of.bindings);
            for binding in bindings.filter(|binding| binding.destination == *queue) {
                if self.subscription.add(filter(&binding.routing_key)) {
                    qos = qos.max(quality_of_subscription(queue).unwrap_or_default());
                }
            }
        }
        if let Protocol::Mqtt { qos: known, .. } = &mut self.protocol {
            *known = qos;
        }
        self.no_ack = Some(qos == 0);
        if self.subscription.filters.is_empty() {
            self.subscription.is_assumed = true;
            for ((_, topic), _) in self.routes.ranked() {
                self.subscription.add(topic.clone());
            }
        }
    }

    /// Returns the queues of the client, each with its virtual host.
    fn subscription_queues(&self, topology: &Topology) -> Vec<(String, String)> {
        if let Some(client) = self.client.map(canonical) {
            let of_client = topology.consumers.iter().filter(|(place, _)| place.client == client);
            let queues = of_client.map(|(_, known)| (known.vhost.clone(), known.queue.clone()));
            let queues: Vec<_> =
                queues.filter(|(_, queue)| quality_of_subscription(queue).is_some()).collect();
            if !queues.is_empty() {
                return queues;
            }
        }
        let Some(id) = &self.client_id else { return Vec::new() };
        let names = subscriptions_of(id);
        let all = topology.vhosts.iter().flat_map(|(vhost, objects)| {
            let known = names.iter().filter(|name| objects.queues.contains_key(*name));
            known.map(move |name| (vhost.clone(), name.clone()))
        });
        all.collect()
    }
}
