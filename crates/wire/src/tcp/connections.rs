//! The assignment of segments to connections.

use core::net::SocketAddr;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    connection::Connection,
    endpoints::{ConnectionId, Direction, Pair},
    figures::{ConnectionEnd, ConnectionSummary},
    limits::{Budgets, Limits},
    observer::{Output, TcpObserver},
    recency::Recency,
};
use crate::segment::Segment;

/// Numbers of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionCounts {
    /// Connections that were seen.
    pub seen: u64,
    /// Connections that are known now.
    pub current: u64,
    /// Connections that were evicted while open, because there were too many.
    pub evicted: u64,
}

/// The connections of a capture.
///
/// Each pair of endpoints has one at a time. A SYN with another sequence number begins a new one. Segments must come in
/// the order of their packets.
#[derive(Debug)]
pub struct Connections {
    budgets: Budgets,
    /// Connections by slot. A slot is reused after its connection has ended.
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    by_pair: HashMap<Pair, u32>,
    /// The connection of the latest segment. Most segments belong to the same one as their predecessor.
    last: Option<(Pair, u32)>,
    recency: Recency,
    counts: ConnectionCounts,
}

impl Default for Connections {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Connections {
    /// Creates an empty set of connections with these bounds.
    pub fn new(limits: Limits) -> Self {
        Self {
            budgets: Budgets::new(limits),
            slots: Vec::new(),
            free: Vec::new(),
            by_pair: HashMap::new(),
            last: None,
            recency: Recency::new(),
            counts: ConnectionCounts::default(),
        }
    }

    /// Processes a segment.
    pub fn segment(&mut self, segment: &Segment<'_>, observer: &mut impl TcpObserver) {
        let pair = Pair::new(segment.from, segment.to);
        let found = self.find(pair);
        let slot = match found {
            Some(slot) if self.at(slot).continues(segment) => slot,
            Some(slot) => {
                self.end(slot, ConnectionEnd::Replaced, observer);
                self.open(pair, segment, observer)
            }
            None => self.open(pair, segment, observer),
        };
        self.last = Some((pair, slot));
        self.recency.touch(slot);
        let connection = occupied(&mut self.slots, slot);
        let mut output = Output { observer, connection: connection.id };
        connection.take(segment, &mut self.budgets, &mut output);
    }

    /// Sets the number of bits by which the windows are shifted that `from` advertises to `to`. Use it for connections
    /// whose beginning was not captured; otherwise their SYNs count. Returns false if there is no such connection.
    pub fn set_window_scale(&mut self, from: SocketAddr, to: SocketAddr, shift: u8) -> bool {
        let Some(slot) = self.find(Pair::new(from, to)) else { return false };
        let connection = occupied(&mut self.slots, slot);
        let is_opener = connection.endpoints.opener == from;
        let direction = if is_opener { Direction::Forward } else { Direction::Reverse };
        connection.set_window_scale(direction, shift);
        true
    }

    /// Ends all connections, in the order in which they appeared.
    pub fn finish(&mut self, observer: &mut impl TcpObserver) {
        let mut slots: Vec<(ConnectionId, u32)> = self
            .slots
            .iter()
            .zip(0..)
            .filter_map(|(connection, slot)| Some((connection.as_ref()?.id, slot)))
            .collect();
        slots.sort_unstable();
        for (_, slot) in slots {
            self.end(slot, ConnectionEnd::Captured, observer);
        }
    }

    /// Returns the summaries of all current connections, in no order.
    pub fn summaries(&self) -> impl Iterator<Item = (ConnectionId, ConnectionSummary)> {
        let connections = self.slots.iter().flatten();
        connections.map(|connection| (connection.id, connection.summary(ConnectionEnd::Open)))
    }

    /// Returns the numbers of connections.
    pub fn counts(&self) -> ConnectionCounts {
        ConnectionCounts { current: self.by_pair.len() as u64, ..self.counts }
    }

    fn find(&self, pair: Pair) -> Option<u32> {
        match self.last {
            Some((last, slot)) if last == pair => Some(slot),
            _ => self.by_pair.get(&pair).copied(),
        }
    }

    fn at(&self, slot: u32) -> &Connection {
        self.slots[slot as usize].as_ref().expect("what is found by a pair is in its slot")
    }

    fn open(&mut self, pair: Pair, segment: &Segment<'_>, observer: &mut impl TcpObserver) -> u32 {
        if self.by_pair.len() >= self.budgets.limits.connections.max(1)
            && let Some(oldest) = self.recency.oldest()
        {
            let is_closed = self.at(oldest).summary(ConnectionEnd::Open).is_closed();
            self.counts.evicted += u64::from(!is_closed);
            self.end(oldest, ConnectionEnd::Evicted, observer);
        }
        let connection = Connection::new(ConnectionId(self.counts.seen), segment);
        self.counts.seen += 1;
        observer.opened(connection.id, &connection.endpoints);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("there are fewer connections than 2^32")
        });
        self.slots[slot as usize] = Some(Box::new(connection));
        self.by_pair.insert(pair, slot);
        self.recency.add(slot);
        slot
    }

    fn end(&mut self, slot: u32, end: ConnectionEnd, observer: &mut impl TcpObserver) {
        let Some(mut connection) = self.slots[slot as usize].take() else { return };
        let mut output = Output { observer, connection: connection.id };
        let summary = connection.end(end, &mut self.budgets, &mut output);
        observer.ended(connection.id, &summary);
        self.by_pair.remove(&connection.pair);
        self.recency.remove(slot);
        self.free.push(slot);
        self.last = None;
    }
}

fn occupied(slots: &mut [Option<Box<Connection>>], slot: u32) -> &mut Connection {
    slots[slot as usize].as_mut().expect("what is found by a pair is in its slot")
}
