//! The result of an observation.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use super::{
    blocks::BlockClock, links::Counts as LinkCounts, mqtt::Counts, publishing::PublishFlow,
    reading::ReadFlow, records::Records, seen::Seen,
};
use crate::{figures::Buckets, topology::canonical};

/// All flows, and everything that they need to become a scenario.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    pub(crate) publishes: Vec<PublishFlow>,
    pub(crate) reads: Vec<ReadFlow>,
    pub(crate) seen: Seen,
    pub(crate) churn: Churn,
    /// Time of the first and the last event, in nanoseconds since 1970.
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) clock: BlockClock,
    /// Number of connections, and of those of AMQP 0-9-1 without messages and readers.
    pub(crate) connections: u64,
    pub(crate) idle: u64,
    pub(crate) mqtt: Counts,
    pub(crate) links: LinkCounts,
    /// Names under which offsets of streams were stored, and how often, by connection and stream.
    pub(crate) stored_offsets: BTreeMap<(u64, String), (String, u64)>,
    /// Number of connections of AMQP 1.0 and of streams without messages and readers.
    pub(crate) idle_links: u64,
    /// Addresses of clients of MQTT without messages, and without a subscription that was seen.
    pub(crate) idle_by_mqtt: BTreeSet<SocketAddr>,
    /// Addresses of clients whose frames were read.
    pub(crate) read_clients: BTreeSet<SocketAddr>,
    /// Records of TLS by the client's address.
    pub(crate) records: BTreeMap<SocketAddr, Records>,
    /// Number of messages of flows that found no room.
    pub(crate) left_out: u64,
    /// Number of times that frames were missed.
    pub(crate) missed: u64,
    pub(crate) returned: u64,
    /// Number of deliveries by a consumer whose queue is `amq.rabbitmq.reply-to`.
    pub(crate) direct_replies: u64,
    /// Everything that was assumed of clients whose packets cannot be read, and that is unknown of them.
    pub(crate) assumed: Vec<String>,
    pub(crate) unknown: Vec<String>,
}

/// The observed time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) seconds: f64,
    /// Its end in nanoseconds since 1970.
    pub(crate) end: u64,
}

/// Objects that came and went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Churn {
    /// Connections that were opened, those of them that were closed again, and the time from one to the other in
    /// nanoseconds.
    pub(crate) connections_opened: u64,
    pub(crate) connection_lives: Buckets,
    /// The same time of connections of MQTT.
    pub(crate) lives_by_mqtt: Buckets,
    /// The same time of connections of AMQP 1.0 and of streams.
    pub(crate) lives_of_links: Buckets,
    /// Connections that were opened and closed again, with messages.
    pub(crate) short_with_messages: u64,
    pub(crate) channels_opened: u64,
    pub(crate) channel_lives: Buckets,
    pub(crate) queues_declared: u64,
    pub(crate) queues_deleted: u64,
    pub(crate) consumers_started: u64,
    pub(crate) consumers_cancelled: u64,
}

impl Flows {
    /// Returns the observed time in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.last.saturating_sub(self.first) as f64 / 1e9
    }

    pub(crate) fn span(&self) -> Span {
        Span { seconds: self.seconds(), end: self.last }
    }

    /// Returns the number of the block of a time. Blocks are joined if there are too many.
    pub(super) fn block(&mut self, nanos: u64) -> usize {
        loop {
            if let Some(number) = self.clock.number(nanos) {
                return number;
            }
            self.clock.double();
            self.publishes.iter_mut().for_each(|flow| flow.blocks.halve());
            for flow in &mut self.reads {
                flow.count_waited(0);
                flow.blocks.halve();
            }
        }
    }

    /// Ends the observation.
    pub(super) fn end(&mut self) {
        self.first = self.first.min(self.last);
        self.reads.iter_mut().for_each(|flow| flow.count_waited(0));
    }

    /// Returns the number of clients of MQTT without messages and readers.
    pub(crate) fn idle_by_mqtt(&self) -> u64 {
        let readers: BTreeSet<SocketAddr> =
            self.reads.iter().filter_map(|flow| flow.client.map(canonical)).collect();
        self.idle_by_mqtt.difference(&readers).count() as u64
    }

    /// Returns whether clients read queues, with or without messages.
    pub fn has_readers(&self) -> bool {
        !self.reads.is_empty()
    }

    /// Returns the number of published and of delivered messages.
    pub fn messages(&self) -> (u64, u64) {
        let published = self.publishes.iter().map(|flow| flow.messages).sum();
        (published, self.reads.iter().map(|flow| flow.deliveries).sum())
    }
}
