//! Facts of a running node that the capture does not show: clients often began before it.

use super::{flows::Flows, reading::Prefetch, reading::ReadFlow};
use crate::topology::{ConsumerPlace, Topology, canonical};

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
            flow.complete(topology);
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
}
