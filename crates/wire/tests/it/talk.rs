//! Two ends that send each other segments, and the observed results.

use std::{net::SocketAddr, time::Duration};

use rabbitscope_wire::{
    packet::Timestamp,
    segment::{Segment, TcpFlags, TcpOptions},
    stream::{Chunk, Gap},
    tcp::{
        ConnectionId, ConnectionSummary, Connections, Direction, Endpoints, Limits, RoundTrip,
        SenderState, Span, Stall, TcpObserver, TracedSegment, ZeroWindow,
    },
};

pub(crate) const SYN: u8 = TcpFlags::SYN;
pub(crate) const ACK: u8 = TcpFlags::ACK;
pub(crate) const FIN: u8 = TcpFlags::FIN;
pub(crate) const RST: u8 = TcpFlags::RST;

/// A reproducible generator of pseudo-random numbers (Vigna's splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }
}

/// Bytes of a direction as they were delivered, and its gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) read: Vec<u8>,
    /// Offset and length.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// Offset after the last byte.
    pub(crate) end: u64,
}

/// Events of all connections together. Only the bytes are kept by connection.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<[Bytes; 2]>,
    pub(crate) endpoints: Vec<Endpoints>,
    pub(crate) segments: Vec<TracedSegment>,
    pub(crate) round_trips: Vec<(Direction, Duration)>,
    pub(crate) spans: Vec<(Direction, SenderState, u64, u64)>,
    pub(crate) zero_windows: Vec<(Direction, ZeroWindow)>,
    pub(crate) stalls: Vec<(Direction, Stall)>,
    pub(crate) summaries: Vec<(ConnectionId, ConnectionSummary)>,
}

impl Seen {
    fn bytes_of(&mut self, connection: ConnectionId, direction: Direction) -> &mut Bytes {
        let connection = usize::try_from(connection.0).unwrap();
        self.bytes.resize(self.bytes.len().max(connection + 1), <[Bytes; 2]>::default());
        &mut self.bytes[connection][usize::from(direction == Direction::Reverse)]
    }
}

impl TcpObserver for Seen {
    fn opened(&mut self, _: ConnectionId, endpoints: &Endpoints) {
        self.endpoints.push(*endpoints);
    }

    fn chunk(&mut self, connection: ConnectionId, direction: Direction, chunk: Chunk<'_>) {
        let bytes = self.bytes_of(connection, direction);
        assert_eq!(chunk.offset, bytes.end, "chunks follow one another");
        bytes.read.extend(chunk.bytes);
        bytes.end += chunk.bytes.len() as u64;
        assert!(chunk.segment_start <= chunk.offset && bytes.end <= chunk.segment_end);
    }

    fn gap(&mut self, connection: ConnectionId, direction: Direction, gap: Gap) {
        let bytes = self.bytes_of(connection, direction);
        assert_eq!(gap.offset, bytes.end, "gaps stand between chunks");
        bytes.gaps.push((gap.offset, gap.length));
        bytes.end += gap.length;
    }

    fn segment(&mut self, _: ConnectionId, _: Direction, segment: &TracedSegment) {
        self.segments.push(segment.clone());
    }

    fn round_trip(&mut self, _: ConnectionId, direction: Direction, round_trip: RoundTrip) {
        self.round_trips.push((direction, round_trip.duration));
    }

    fn span(&mut self, _: ConnectionId, direction: Direction, span: Span) {
        let millis = |time: Timestamp| time.unix_nanos() / 1_000_000;
        self.spans.push((direction, span.state, millis(span.start), millis(span.end)));
    }

    fn zero_window(&mut self, _: ConnectionId, direction: Direction, zero: ZeroWindow) {
        self.zero_windows.push((direction, zero));
    }

    fn stall(&mut self, _: ConnectionId, direction: Direction, stall: Stall) {
        self.stalls.push((direction, stall));
    }

    fn ended(&mut self, connection: ConnectionId, summary: &ConnectionSummary) {
        self.summaries.push((connection, summary.clone()));
    }
}

/// A segment that one end sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent<'a> {
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
    /// Also sets the ACK flag.
    pub(crate) acknowledgement: Option<u32>,
    pub(crate) window: u16,
    pub(crate) payload: &'a [u8],
    /// Bytes of the payload beyond the captured ones.
    pub(crate) not_captured: u32,
    pub(crate) options: TcpOptions,
}

/// Traffic of a client at port 1000 with a broker, in packets a millisecond apart.
pub(crate) struct Talk {
    pub(crate) connections: Connections,
    pub(crate) seen: Seen,
    pub(crate) client: SocketAddr,
    pub(crate) broker: SocketAddr,
    packet: u64,
    pub(crate) millis: u64,
}

impl Talk {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            connections: Connections::new(limits),
            seen: Seen::default(),
            client: "10.0.0.1:1000".parse().unwrap(),
            broker: "10.0.0.2:5672".parse().unwrap(),
            packet: 0,
            millis: 0,
        }
    }

    /// Opens a connection. The windows of client and broker are 65,535; both scale by `scale`.
    pub(crate) fn opened(limits: Limits, scale: Option<u8>) -> Self {
        let mut talk = Self::new(limits);
        let options = TcpOptions {
            window_scale: scale,
            max_segment_size: Some(1460),
            ..TcpOptions::default()
        };
        let syn = Sent { flags: SYN, window: 65_535, options, ..Sent::default() };
        talk.client(Sent { sequence: 999, ..syn });
        talk.broker(Sent { sequence: 4999, acknowledgement: Some(1000), ..syn });
        talk.client(Sent { sequence: 1000, acknowledgement: Some(5000), ..Sent::window(65_535) });
        talk
    }

    pub(crate) fn client(&mut self, sent: Sent<'_>) {
        self.send(self.client, self.broker, sent);
    }

    pub(crate) fn broker(&mut self, sent: Sent<'_>) {
        self.send(self.broker, self.client, sent);
    }

    /// Ends the capture and returns the results.
    pub(crate) fn finish(mut self) -> Seen {
        self.connections.finish(&mut self.seen);
        assert_eq!(self.connections.counts().current, 0);
        self.seen
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, sent: Sent<'_>) {
        self.packet += 1;
        self.millis += 1;
        let payload_length = u32::try_from(sent.payload.len()).unwrap() + sent.not_captured;
        let acknowledges = if sent.acknowledgement.is_some() { ACK } else { 0 };
        let segment = Segment {
            packet: self.packet,
            time: Timestamp::from_unix_nanos(self.millis * 1_000_000),
            packet_length: payload_length + 54,
            from,
            to,
            sequence: sent.sequence,
            acknowledgement: sent.acknowledgement.unwrap_or(0),
            flags: TcpFlags(sent.flags | acknowledges),
            window: sent.window,
            options: sent.options,
            payload_length,
            payload: sent.payload,
        };
        self.connections.segment(&segment, &mut self.seen);
    }
}

impl<'a> Sent<'a> {
    pub(crate) fn window(window: u16) -> Self {
        Self { window, ..Self::default() }
    }

    pub(crate) fn payload(sequence: u32, payload: &'a [u8]) -> Self {
        Self { sequence, payload, acknowledgement: Some(5000), window: 65_535, ..Self::default() }
    }
}
