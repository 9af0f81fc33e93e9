//! Frames and latencies of all connections of a capture file.

use std::collections::{BTreeMap, HashMap};

use rabbitscope_wire::{
    capture::{CaptureError, PacketReader},
    decode::decode,
    exchanges::{Exchanges, Latency, Replies},
    packet::Packet,
    protocols::{Conversation, Details, Frame, FrameSink, Loss, Protocol, Sensitive, Skipped},
    report::{LatencyKind, Side, Unmatched},
    stream::{Chunk, Gap},
    tcp::{ConnectionId, Connections, Direction, Endpoints, Limits, TcpObserver},
};

/// The results for a capture.
#[derive(Default)]
pub(crate) struct Captured {
    /// Frames by protocol, kind and sender.
    pub(crate) frames: BTreeMap<(Protocol, &'static str, Side), u64>,
    pub(crate) latencies: Vec<Latency>,
    /// Messages of AMQP 0-9-1: packets of the method and of the last frame.
    pub(crate) messages: Vec<(u64, u64)>,
    pub(crate) sensitive: Vec<(ConnectionId, Sensitive)>,
    /// Payload bytes by connection and sender, for captures without holes.
    pub(crate) bytes: HashMap<(ConnectionId, Side), Vec<u8>>,
    pub(crate) losses: u64,
    keep_bytes: bool,
    /// For incomplete messages: the packet of the method, and the number of missing bytes of the body.
    parts: HashMap<(ConnectionId, Side, u16), (u64, u64)>,
    conversations: HashMap<ConnectionId, (Conversation, Exchanges)>,
    replies: Replies,
    ports: Vec<u16>,
    swapped: HashMap<ConnectionId, bool>,
}

impl Captured {
    /// Keeps the bytes of all connections, and their sensitive ranges.
    pub(crate) fn with_bytes() -> Self {
        Self { keep_bytes: true, ..Self::default() }
    }

    /// Reads the file. The broker listens on one of these ports.
    pub(crate) fn read(mut self, file: &[u8], ports: &[u16]) -> Result<Self, CaptureError> {
        self.ports = ports.to_vec();
        let mut reader = PacketReader::new(file)?;
        let mut connections = Connections::new(Limits::default());
        while let Some(packet) = reader.next()? {
            self.packet(&packet, &mut connections);
        }
        connections.finish(&mut self);
        Ok(self)
    }

    fn packet(&mut self, packet: &Packet<'_>, connections: &mut Connections) {
        if let Ok(segment) = decode(packet) {
            connections.segment(&segment, self);
        }
    }

    /// Returns the number of frames of this kind from either side.
    pub(crate) fn count(&self, wanted: &str) -> u64 {
        self.frames.iter().filter(|((_, kind, _), _)| *kind == wanted).map(|(_, count)| count).sum()
    }

    pub(crate) fn of_kind(&self, kind: LatencyKind) -> impl Iterator<Item = &Latency> {
        self.latencies.iter().filter(move |latency| latency.kind == kind)
    }

    pub(crate) fn unmatched(&self, kind: LatencyKind) -> Vec<Unmatched> {
        self.conversations.values().map(|(_, exchanges)| exchanges.unmatched(kind)).collect()
    }

    /// Returns the bytes of one side of a connection, with zeros in the sensitive ranges.
    pub(crate) fn blanked(&self, connection: ConnectionId, side: Side) -> Vec<u8> {
        let mut bytes = self.bytes[&(connection, side)].clone();
        let length = bytes.len();
        let place = |offset: u64| usize::try_from(offset).map_or(length, |at| at.min(length));
        for (of, sensitive) in &self.sensitive {
            if *of == connection && sensitive.sender == side {
                bytes[place(sensitive.range.start)..place(sensitive.range.end)].fill(0);
            }
        }
        bytes
    }

    pub(crate) fn skipped_bytes(&self) -> u64 {
        let sides = |both: &Conversation| {
            both.direction(Side::Client).skipped_bytes()
                + both.direction(Side::Broker).skipped_bytes()
        };
        self.conversations.values().map(|(conversation, _)| sides(conversation)).sum()
    }

    fn sender(&self, connection: ConnectionId, direction: Direction) -> Side {
        let is_swapped = self.swapped.get(&connection).copied().unwrap_or(false);
        if (direction == Direction::Forward) == is_swapped { Side::Broker } else { Side::Client }
    }

    fn with(
        &mut self,
        connection: ConnectionId,
        read: impl FnOnce(&mut Conversation, &mut Matching<'_>),
    ) {
        let begin = || (Conversation::default(), Exchanges::new(connection.0));
        let (mut conversation, mut exchanges) =
            self.conversations.remove(&connection).unwrap_or_else(begin);
        read(&mut conversation, &mut Matching { connection, exchanges: &mut exchanges, of: self });
        self.conversations.insert(connection, (conversation, exchanges));
    }
}

impl TcpObserver for Captured {
    fn opened(&mut self, connection: ConnectionId, endpoints: &Endpoints) {
        let is_swapped =
            !endpoints.opener_is_known && self.ports.contains(&endpoints.opener.port());
        self.swapped.insert(connection, is_swapped);
    }

    fn chunk(&mut self, connection: ConnectionId, direction: Direction, chunk: Chunk<'_>) {
        let sender = self.sender(connection, direction);
        if self.keep_bytes {
            self.bytes.entry((connection, sender)).or_default().extend_from_slice(chunk.bytes);
        }
        self.with(connection, |conversation, sink| conversation.chunk(sender, &chunk, sink));
    }

    fn gap(&mut self, connection: ConnectionId, direction: Direction, gap: Gap) {
        let sender = self.sender(connection, direction);
        self.with(connection, |conversation, sink| conversation.gap(sender, &gap, sink));
    }
}

/// Counts the frames of one connection and matches them.
struct Matching<'a> {
    connection: ConnectionId,
    exchanges: &'a mut Exchanges,
    of: &'a mut Captured,
}

impl Matching<'_> {
    fn message(&mut self, frame: &Frame<'_>) {
        let packet = frame.place.last_packet;
        let key = (self.connection, frame.sender, frame.channel);
        let (method, left) = match frame.details {
            Details::Publish(_) | Details::Delivery(_) => (packet, u64::MAX),
            Details::Header(header) => match self.of.parts.remove(&key) {
                Some((method, _)) => (method, header.body_bytes),
                None => return,
            },
            Details::Body(bytes) => match self.of.parts.remove(&key) {
                Some((method, left)) => (method, left - u64::from(bytes)),
                None => return,
            },
            _ => return,
        };
        if left == 0 {
            self.of.messages.push((method, packet));
        } else {
            self.of.parts.insert(key, (method, left));
        }
    }
}

impl FrameSink for Matching<'_> {
    fn frame(&mut self, frame: &Frame<'_>) {
        *self.of.frames.entry((frame.protocol, frame.kind, frame.sender)).or_default() += 1;
        self.message(frame);
        let latencies = &mut self.of.latencies;
        self.exchanges.frame(frame, &mut self.of.replies, &mut |latency| latencies.push(*latency));
    }

    fn sensitive(&mut self, sensitive: &Sensitive) {
        if self.of.keep_bytes {
            self.of.sensitive.push((self.connection, sensitive.clone()));
        }
    }

    fn lost(&mut self, loss: &Loss) {
        self.of.losses += 1;
        self.exchanges.lost(loss);
    }

    fn found(&mut self, skipped: &Skipped) {
        self.exchanges.found(skipped);
    }
}
