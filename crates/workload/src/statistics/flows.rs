//! Messages of channels ─► flows.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use super::{
    links::{shown_links, take_one, unread_links},
    sizes::{SeenSizes, Writing},
    traffic::{Channel, Counted, Exchange, Published, Queue, Read, Traffic},
};
use crate::{
    figures::Values,
    observe::{ConfirmMode, Flows, Protocol, PublishFlow, PublishKey, ReadFlow, Settled},
    topology::{
        ClientProtocol, Connection, ConsumerPlace, Destination, Topology, canonical,
        quality_of_subscription,
    },
};

/// Number of the first connection that has no packets.
const FIRST_NUMBER: u64 = 1 << 62;
/// Bytes of an acknowledgement.
const ACK_BYTES: u64 = 21;

impl Flows {
    /// Creates flows of an observation without packets.
    pub fn without_packets(seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some minutes")]
        let last = (seconds * 1e9) as u64;
        Self { last, ..Self::default() }
    }

    /// Adds the clients whose packets cannot be read, as the node counted their messages, and all consumers without
    /// messages. Returns the number of added publishers and readers with messages.
    pub fn add_counted(&mut self, counted: &Counted, topology: &Topology) -> usize {
        let counts = counted.after.since(&counted.before);
        let unseen = Unseen::new(self, counted, topology);
        let publishes: Vec<PublishFlow> = counts
            .published
            .iter()
            .filter(|(place, row)| row.messages > 0 && unseen.has(place.channel.client))
            .map(|(place, row)| unseen.publish_flow(self, &counts, (place, *row)))
            .collect();
        let read = counts.read.iter().filter(|(place, _)| unseen.has(place.channel.client));
        let reads: Vec<ReadFlow> =
            read.flat_map(|(place, row)| unseen.read_flows(self, place, *row)).collect();
        let added = publishes.len() + reads.len();
        self.publishes.extend(publishes);
        self.reads.extend(reads);
        let silent = unseen.silent_consumers(self);
        self.reads.extend(silent);
        self.connections = self.connections.max(topology.connections.len() as u64);
        self.idle = unseen.idle(self);
        unseen.note(self, counted, added);
        self.unknown.extend(unread_links(self, topology));
        added
    }
}

/// Clients whose packets cannot be read.
struct Unseen<'a> {
    topology: &'a Topology,
    has_packets: bool,
    clients: BTreeSet<SocketAddr>,
    /// Numbers of their connections.
    numbers: BTreeMap<SocketAddr, u64>,
}

impl<'a> Unseen<'a> {
    fn new(flows: &Flows, counted: &Counted, topology: &'a Topology) -> Self {
        let is_unseen = |client: &SocketAddr, has_tls: bool| {
            !flows.read_clients.contains(client)
                && (!counted.has_packets || has_tls || flows.records.contains_key(client))
        };
        let known = topology.connections.iter();
        let known = known.filter(|(client, of)| is_unseen(client, !of.tls.is_empty()));
        let clients: BTreeSet<SocketAddr> = known.map(|(client, _)| *client).collect();
        let numbers = topology.connections.keys().copied().zip(FIRST_NUMBER..).collect();
        Self { topology, has_packets: counted.has_packets, clients, numbers }
    }

    fn has(&self, client: SocketAddr) -> bool {
        self.clients.contains(&client)
    }

    fn number(&self, client: SocketAddr) -> u64 {
        self.numbers.get(&client).copied().unwrap_or_default()
    }

    fn publish_flow(
        &self,
        flows: &Flows,
        counts: &Traffic,
        (place, row): (&Exchange, Published),
    ) -> PublishFlow {
        let Exchange { channel, name } = place;
        let routing_keys = self.routing_keys(counts, place);
        let seen = self.sizes(flows, counts, (place, row.messages), &routing_keys);
        let mut flow = PublishFlow {
            key: PublishKey {
                connection: self.number(channel.client),
                channel: channel.number,
                exchange: name.clone(),
            },
            client: Some(channel.client),
            vhost: Some(channel.vhost.clone()),
            product: self.product(channel.client),
            mode: match (row.confirms, row.transactions) {
                (true, _) => ConfirmMode::Confirms,
                (_, true) => ConfirmMode::Transactions,
                _ => ConfirmMode::Off,
            },
            messages: row.messages,
            first: flows.first,
            last: flows.last,
            routing_keys,
            sizes: seen.sizes,
            size_buckets: seen.buckets,
            ..PublishFlow::default()
        };
        match (seen.writing, flows.records.get(&channel.client)) {
            (Writing::PerMessage, Some(records)) => {
                flow.gaps.merge(&records.gaps);
                flow.counts = records.counts.clone();
            }
            (Writing::PerFrame, _) => flow.frame_by_frame = row.messages,
            _ => {}
        }
        flow
    }

    /// Returns keys that reach the same queues.
    fn routing_keys(&self, counts: &Traffic, place: &Exchange) -> Values<String> {
        let mut keys = Values::default();
        let objects = self.topology.vhosts.get(&place.channel.vhost);
        for ((of, queue), count) in counts.routed.iter().filter(|(_, count)| **count > 0) {
            if of != place {
                continue;
            }
            if place.name.is_empty() {
                keys.add_times(queue.clone(), *count);
                continue;
            }
            let bindings = objects.into_iter().flat_map(|objects| &objects.bindings);
            let mut bindings = bindings.filter(|binding| {
                binding.kind == Destination::Queue
                    && binding.source == place.name
                    && binding.destination == *queue
            });
            if let Some(binding) = bindings.next() {
                keys.add_times(matching(&binding.routing_key), *count);
            }
        }
        keys
    }

    fn sizes(
        &self,
        flows: &Flows,
        counts: &Traffic,
        (place, messages): (&Exchange, u64),
        keys: &Values<String>,
    ) -> SeenSizes {
        let client = place.channel.client;
        let key = keys.most_frequent().map_or(0, |(key, _)| key.len());
        let names = (place.name.len() + key) as u64;
        let of_client = counts.published.iter().filter(|(of, _)| of.channel.client == client);
        let all: u64 = of_client.map(|(_, row)| row.messages).sum();
        let overhead = self.overhead(client);
        if let Some(records) = flows.records.get(&client)
            && all == messages
        {
            return SeenSizes::of_records(records, overhead, (messages, names));
        }
        let bytes = counts.received.get(&client).copied().unwrap_or_default();
        let reads = counts.read.iter().filter(|(of, _)| of.channel.client == client);
        let acks: u64 = reads.map(|(_, row)| row.acknowledged).sum();
        let others = acks * (ACK_BYTES + overhead) + all * overhead;
        let bytes = u128::from(bytes.saturating_sub(others)) * u128::from(messages);
        let bytes = u64::try_from(bytes / u128::from(all.max(1))).unwrap_or(u64::MAX);
        SeenSizes::of_bytes(bytes, messages, names)
    }

    /// Returns the bytes that TLS adds to a record.
    fn overhead(&self, client: SocketAddr) -> u64 {
        match self.topology.connections.get(&client).map(|known| known.tls.as_str()) {
            None | Some("") => 0,
            Some("tlsv1.3") => 17,
            Some(_) => 24,
        }
    }

    fn product(&self, client: SocketAddr) -> String {
        let known = self.topology.connections.get(&client);
        known.map(|known| known.product.clone()).unwrap_or_default()
    }

    /// Returns a flow for each consumer of a queue on a channel, and one for single messages.
    fn read_flows(&self, flows: &Flows, place: &Queue, row: Read) -> Vec<ReadFlow> {
        let delivered = row.delivered + row.delivered_no_ack;
        let mut all = Vec::new();
        if delivered > 0 {
            let tags = self.tags(place);
            let count = tags.len() as u64;
            for tag in tags {
                all.push(ReadFlow {
                    consumer_tag: tag,
                    no_ack: Some(row.delivered_no_ack > row.delivered),
                    deliveries: delivered / count,
                    redelivered: row.redelivered / count,
                    settled: Settled { acks: row.acknowledged / count, ..Settled::default() },
                    ..self.read_flow(flows, &place.channel, &place.name)
                });
            }
        }
        let gets = row.got + row.got_empty;
        if gets > 0 {
            let mut flow = ReadFlow {
                is_polling: true,
                no_ack: Some(false),
                deliveries: row.got,
                gets,
                empty: row.got_empty,
                ..self.read_flow(flows, &place.channel, &place.name)
            };
            flow.poll_intervals.add_times((flows.last - flows.first) / gets, gets);
            all.push(flow);
        }
        all
    }

    fn read_flow(&self, flows: &Flows, channel: &Channel, queue: &str) -> ReadFlow {
        ReadFlow {
            connection: self.number(channel.client),
            client: Some(channel.client),
            channel: channel.number,
            vhost: Some(channel.vhost.clone()),
            product: self.product(channel.client),
            queue: Some(queue.to_owned()),
            first: flows.first,
            last: flows.last,
            ..ReadFlow::default()
        }
    }

    /// Returns the tags of the consumers of a queue on a channel; an empty one if none is known any more.
    fn tags(&self, of: &Queue) -> Vec<String> {
        let known = self.topology.consumers.iter().filter(|(place, consumer)| {
            (place.client, place.channel) == (of.channel.client, of.channel.number)
                && consumer.queue == of.name
        });
        let tags: Vec<String> = known.map(|(place, _)| place.consumer_tag.clone()).collect();
        if tags.is_empty() { vec![String::new()] } else { tags }
    }

    /// Returns flows of the consumers that no source shows a message of.
    fn silent_consumers(&self, flows: &Flows) -> Vec<ReadFlow> {
        let shown: BTreeSet<ConsumerPlace> = flows
            .reads
            .iter()
            .filter_map(|flow| {
                Some(ConsumerPlace::new(flow.client?, flow.channel, flow.consumer_tag.clone()))
            })
            .collect();
        let numbers: BTreeMap<SocketAddr, u64> = flows
            .reads
            .iter()
            .filter_map(|flow| Some((canonical(flow.client?), flow.connection)))
            .collect();
        // A client of MQTT has one reader, whose queues are those of one subscription.
        let by_mqtt = flows.reads.iter().filter(|flow| flow.protocol.is_mqtt());
        let mut by_mqtt: BTreeSet<SocketAddr> =
            by_mqtt.filter_map(|flow| flow.client.map(canonical)).collect();
        let mut links = shown_links(flows);
        let known =
            self.topology.consumers.iter().filter(
                |(place, consumer)| match quality_of_subscription(&consumer.queue) {
                    Some(_) => by_mqtt.insert(place.client),
                    None if consumer.protocol != ClientProtocol::Amqp091 => {
                        let mut take =
                            |queue| links.get_mut(&(place.client, queue)).is_some_and(take_one);
                        !(take(Some(&consumer.queue[..])) || take(None))
                    }
                    None => !shown.contains(place),
                },
            );
        known
            .map(|(place, consumer)| {
                let number = numbers.get(&place.client).copied();
                ReadFlow {
                    protocol: match consumer.protocol {
                        ClientProtocol::Amqp091 => Protocol::Amqp091,
                        ClientProtocol::Amqp10 => Protocol::Amqp10,
                        ClientProtocol::Stream => Protocol::Stream,
                    },
                    connection: number.unwrap_or_else(|| self.number(place.client)),
                    client: Some(place.client),
                    channel: place.channel,
                    vhost: Some(consumer.vhost.clone()),
                    product: self.product(place.client),
                    consumer_tag: place.consumer_tag.clone(),
                    queue: Some(consumer.queue.clone()),
                    exclusive: consumer.exclusive,
                    no_ack: Some(consumer.no_ack),
                    ..ReadFlow::default()
                }
            })
            .collect()
    }

    /// Returns the number of connections without messages and consumers.
    fn idle(&self, flows: &Flows) -> u64 {
        let of_publishes = flows.publishes.iter().filter_map(|flow| flow.client);
        let of_reads = flows.reads.iter().filter_map(|flow| flow.client);
        let busy: BTreeSet<SocketAddr> = of_publishes.chain(of_reads).map(canonical).collect();
        let idle = |(client, known): &(&SocketAddr, &Connection)| {
            !known.is_control && !busy.contains(client)
        };
        self.topology.connections.iter().filter(idle).count() as u64
    }

    /// Notes the assumptions, and everything that remains unknown.
    fn note(&self, flows: &mut Flows, counted: &Counted, added: usize) {
        if added > 0 {
            flows.assumed.push(self.assumed());
        }
        let is_counting = counted.before.is_counting() || counted.after.is_counting();
        if self.clients.is_empty() || is_counting {
            return;
        }
        let records: u64 = flows.records.values().map(|records| records.count).sum();
        let bytes: u64 = flows.records.values().map(|records| records.bytes).sum();
        let tls = if records > 0 {
            let (a_second, mean) = (records as f64 / flows.seconds().max(1e-3), bytes / records);
            format!(
                "; clients sent {a_second:.1} records of TLS a second, of {mean} bytes on average"
            )
        } else {
            String::new()
        };
        flows.unknown.push(format!(
            "messages of {} connections: their packets cannot be read, and the node counts no messages \
             (collect_statistics = none){tls}",
            self.clients.len()
        ));
    }

    fn assumed(&self) -> String {
        let how = if self.has_packets {
            let versions =
                self.clients.iter().filter_map(|client| self.topology.connections.get(client));
            let is_old = versions.clone().any(|known| known.tls != "tlsv1.3");
            let overhead =
                if is_old { "17 bytes with TLS 1.3, 24 with earlier versions" } else { "17 bytes" };
            format!(
                "{} connections have TLS: rates, targets and confirms are counts of the node, sizes those of records \
                 less the overhead ({overhead}), exchange and key",
                self.clients.len()
            )
        } else {
            "without packets: rates, targets and confirms are counts of the node, sizes are means of received bytes"
                .to_owned()
        };
        format!(
            "{how}; messages are transient and without properties, keys are those of bindings, and consumers settle \
             each message at once"
        )
    }
}

/// Returns a key that the key of a binding matches.
fn matching(pattern: &str) -> String {
    let word =
        |word: &str| if matches!(word, "*" | "#") { "x".to_owned() } else { word.to_owned() };
    pattern.split('.').map(word).collect::<Vec<_>>().join(".")
}
