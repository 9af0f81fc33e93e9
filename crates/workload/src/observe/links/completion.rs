//! Facts of a running node about publishers and readers that began before the capture.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use rabbitscope_wire::activity::Joined;

use super::{
    super::{flows::Flows, mqtt::Protocol, publishing::PublishFlow, reading::ReadFlow},
    Address,
};
use crate::topology::{ClientProtocol, Consumer, ConsumerPlace, KnownLink, Topology, canonical};

/// Beginning of the tags by which RabbitMQ's tables know readers of streams.
const OF_STREAM: &str = "stream.subid-";
/// Beginning of the tags by which the plugin of AMQP 1.0 before 4.0 consumes; the handle follows as four bytes.
const OF_PLUGIN: &str = "ctag-";
/// Channel of the reader of a stream with number 0.
const READERS: u16 = 256;

impl Flows {
    /// Completes publishers and readers of AMQP 1.0 and of streams, as far as the node tells their queues for sure.
    pub(in super::super) fn complete_links(&mut self, topology: &Topology) {
        for flow in &mut self.publishes {
            match flow.protocol {
                Protocol::Stream => flow.complete_stream(topology),
                Protocol::Amqp10 => flow.complete_link(topology),
                Protocol::Amqp091 | Protocol::Mqtt { .. } => {}
            }
        }
        let of_links = self.reads.iter_mut().filter(|flow| flow.protocol.is_link());
        for flow in of_links.filter(|flow| flow.queue.is_none()) {
            if let Some(known) = link(topology, flow.client, flow.joined, true) {
                flow.vhost = flow.vhost.take().or_else(|| vhost(known));
                if let Address::Queue(queue) = Address::from_text(known.address.as_bytes()) {
                    flow.queue = Some(queue);
                    continue;
                }
            }
            if let Some(known) = flow.known(topology) {
                flow.vhost.get_or_insert_with(|| known.vhost.clone());
                flow.no_ack.get_or_insert(known.no_ack);
                flow.priority = flow.priority.or(known.priority);
                flow.queue = Some(known.queue.clone());
            }
        }
        // Afterwards, names may be replaced.
        let stored = core::mem::take(&mut self.stored_offsets);
        for flow in self.reads.iter_mut().filter(|flow| flow.protocol == Protocol::Stream) {
            let place = flow.queue.clone().map(|stream| (flow.connection, stream));
            if let Some((name, times)) = place.and_then(|place| stored.get(&place)) {
                flow.stored_offsets = *times;
                flow.stream.name.clone_from(name);
            }
        }
    }
}

/// Returns the link at a place of a session, as the node tells it.
fn link(
    topology: &Topology,
    client: Option<SocketAddr>,
    joined: Option<Joined>,
    is_reader: bool,
) -> Option<&KnownLink> {
    let Joined { session, handle } = joined?;
    topology.links.get(&(canonical(client?), session, handle, is_reader))
}

fn vhost(known: &KnownLink) -> Option<String> {
    Some(known.vhost.clone()).filter(|vhost| !vhost.is_empty())
}

impl PublishFlow {
    /// Completes the target, as far as all messages have the same.
    fn complete_link(&mut self, topology: &Topology) {
        if self.routing_keys.total() > 0 {
            return;
        }
        let Some(known) = link(topology, self.client, self.joined, false) else { return };
        self.vhost = self.vhost.take().or_else(|| vhost(known));
        match Address::from_text(known.address.as_bytes()) {
            Address::Queue(queue) => self.routing_keys.add_times(queue, self.messages),
            Address::Exchange { exchange, key: Some(key) } => {
                self.key.exchange = exchange;
                self.routing_keys.add_times(key, self.messages);
            }
            _ => {}
        }
    }

    fn complete_stream(&mut self, topology: &Topology) {
        let Some(client) = self.client.map(canonical) else { return };
        let Ok(number) = u8::try_from(self.key.channel) else { return };
        let Some(known) = topology.publishers.get(&(client, number)) else { return };
        self.vhost.get_or_insert_with(|| known.vhost.clone());
        if self.routing_keys.total() == 0 {
            self.routing_keys.add_times(known.stream.clone(), self.messages);
            self.stream.has_reference = known.has_reference;
        }
    }
}

impl ReadFlow {
    /// Returns the consumer that the node knows of a flow; none if it may be one of several.
    fn known<'a>(&self, topology: &'a Topology) -> Option<&'a Consumer> {
        let client = self.client.map(canonical)?;
        let (protocol, tags) = match self.protocol {
            Protocol::Stream => {
                let number = self.channel.checked_sub(READERS)?;
                (ClientProtocol::Stream, vec![format!("{OF_STREAM}{number}")])
            }
            _ => (ClientProtocol::Amqp10, self.tags()?),
        };
        let of_client = consumers(topology, client, protocol);
        let named = of_client.iter().filter(|(place, _)| tags.contains(&place.consumer_tag));
        let named: Vec<_> = named.collect();
        let (_, first) = named.first()?;
        let is_sure =
            named.iter().all(|(_, of)| of.queue == first.queue && of.vhost == first.vhost);
        is_sure.then_some(first)
    }

    /// Returns the tags of a link of AMQP 1.0, by the broker's handle of it.
    fn tags(&self) -> Option<Vec<String>> {
        let handle: u32 = self.consumer_tag.parse().ok()?;
        let of_plugin: String = handle.to_be_bytes().into_iter().map(char::from).collect();
        Some(vec![self.consumer_tag.clone(), format!("{OF_PLUGIN}{of_plugin}")])
    }
}

fn consumers(
    topology: &Topology,
    client: SocketAddr,
    protocol: ClientProtocol,
) -> BTreeMap<&ConsumerPlace, &Consumer> {
    let all = topology.consumers.iter();
    all.filter(|(place, of)| place.client == client && of.protocol == protocol).collect()
}
