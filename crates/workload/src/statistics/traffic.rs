//! Messages of channels, as the node counts them.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::topology::{DefinitionsError, canonical};

/// A reading of the node's counts. Empty if the node does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub(super) published: BTreeMap<Exchange, Published>,
    /// By exchange and queue.
    pub(super) routed: BTreeMap<(Exchange, String), u64>,
    pub(super) read: BTreeMap<Queue, Read>,
    /// Bytes by connection.
    pub(super) received: BTreeMap<SocketAddr, u64>,
}

/// The counts of an observation: a reading at its begin and one at its end.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The first reading.
    pub before: Traffic,
    /// The last reading.
    pub after: Traffic,
    /// True if packets were captured.
    pub has_packets: bool,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Channel {
    pub(super) client: SocketAddr,
    pub(super) number: u16,
    pub(super) vhost: String,
}

/// An exchange that a channel publishes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Exchange {
    pub(super) channel: Channel,
    pub(super) name: String,
}

/// A queue that a channel reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Queue {
    pub(super) channel: Channel,
    pub(super) name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) messages: u64,
    pub(super) confirms: bool,
    pub(super) transactions: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Read {
    pub(super) got: u64,
    pub(super) got_empty: u64,
    pub(super) delivered: u64,
    pub(super) delivered_no_ack: u64,
    pub(super) redelivered: u64,
    pub(super) acknowledged: u64,
}

#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    published: Vec<PublishedRow>,
    #[serde(default)]
    routed: Vec<RoutedRow>,
    #[serde(default)]
    read: Vec<ReadRow>,
    #[serde(default)]
    received: Vec<ReceivedRow>,
}

#[derive(Deserialize)]
struct Place {
    peer: String,
    channel: u16,
    vhost: String,
}

#[derive(Deserialize)]
struct PublishedRow {
    #[serde(flatten)]
    place: Place,
    exchange: String,
    published: u64,
    confirm: bool,
    transactional: bool,
}

#[derive(Deserialize)]
struct RoutedRow {
    #[serde(flatten)]
    place: Place,
    exchange: String,
    queue: String,
    published: u64,
}

#[derive(Deserialize)]
struct ReadRow {
    #[serde(flatten)]
    place: Place,
    queue: String,
    #[serde(flatten)]
    read: Read,
}

#[derive(Deserialize)]
struct ReceivedRow {
    peer: String,
    bytes: u64,
}

impl Place {
    /// Returns the channel; none without an address.
    fn channel(self) -> Option<Channel> {
        let client = canonical(self.peer.parse().ok()?);
        Some(Channel { client, number: self.channel, vhost: self.vhost })
    }
}

impl Traffic {
    /// Reads the rows of the module on the node.
    pub fn from_json(text: &str) -> Result<Self, DefinitionsError> {
        let rows: Rows = serde_json::from_str(text).map_err(|error| {
            DefinitionsError::Form(format!("line {}, column {}", error.line(), error.column()))
        })?;
        let mut traffic = Self::default();
        for PublishedRow { place, exchange: name, published, confirm, transactional } in
            rows.published
        {
            let Some(channel) = place.channel() else { continue };
            let row =
                Published { messages: published, confirms: confirm, transactions: transactional };
            traffic.published.insert(Exchange { channel, name }, row);
        }
        for RoutedRow { place, exchange: name, queue, published } in rows.routed {
            let Some(channel) = place.channel() else { continue };
            traffic.routed.insert((Exchange { channel, name }, queue), published);
        }
        for ReadRow { place, queue: name, read } in rows.read {
            let Some(channel) = place.channel() else { continue };
            traffic.read.insert(Queue { channel, name }, read);
        }
        for ReceivedRow { peer, bytes } in rows.received {
            let Ok(client) = peer.parse() else { continue };
            traffic.received.insert(canonical(client), bytes);
        }
        Ok(traffic)
    }

    /// Returns whether the node counts messages.
    pub fn is_counting(&self) -> bool {
        !self.published.is_empty() || !self.read.is_empty()
    }

    /// Returns the counts since an earlier reading. A channel that is younger has counted from 0.
    pub(super) fn since(&self, before: &Self) -> Self {
        let messages = |more: u64, earlier: Option<u64>| more.saturating_sub(earlier.unwrap_or(0));
        let published = self.published.iter().map(|(place, row)| {
            let earlier = before.published.get(place).map(|row| row.messages);
            (place.clone(), Published { messages: messages(row.messages, earlier), ..*row })
        });
        let routed = self.routed.iter().map(|(place, count)| {
            (place.clone(), messages(*count, before.routed.get(place).copied()))
        });
        let read = self.read.iter().map(|(place, row)| {
            let earlier = before.read.get(place).copied().unwrap_or_default();
            (place.clone(), row.since(earlier))
        });
        let received = self.received.iter().map(|(client, bytes)| {
            (*client, messages(*bytes, before.received.get(client).copied()))
        });
        Self {
            published: published.collect(),
            routed: routed.collect(),
            read: read.collect(),
            received: received.collect(),
        }
    }
}

impl Read {
    fn since(self, before: Self) -> Self {
        Self {
            got: self.got.saturating_sub(before.got),
            got_empty: self.got_empty.saturating_sub(before.got_empty),
            delivered: self.delivered.saturating_sub(before.delivered),
            delivered_no_ack: self.delivered_no_ack.saturating_sub(before.delivered_no_ack),
            redelivered: self.redelivered.saturating_sub(before.redelivered),
            acknowledged: self.acknowledged.saturating_sub(before.acknowledged),
        }
    }
}
