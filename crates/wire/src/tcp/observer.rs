//! What is handed on while segments come.

use core::ops::Range;
use std::time::Duration;

use super::{
    endpoints::{ConnectionId, Direction, Endpoints},
    figures::ConnectionSummary,
};
use crate::{
    packet::Timestamp,
    segment::TcpFlags,
    stream::{Chunk, Gap},
};

/// Is handed what connections say, in the order of packets. What is of no interest need not be implemented.
///
/// For one segment, the round trip that it ends comes first, then chunks and gaps, then the segment itself. Directions
/// are those of the bytes that something is about: a round trip is about who sent what was acknowledged, a zero window
/// about who may not send.
pub trait TcpObserver {
    /// A connection was seen for the first time.
    fn opened(&mut self, _connection: ConnectionId, _endpoints: &Endpoints) {}
    /// Bytes, in order.
    fn chunk(&mut self, _connection: ConnectionId, _direction: Direction, _chunk: Chunk<'_>) {}
    /// The receiver has bytes that were not seen yet, or they were seen at last. It is told before the bytes of the segment
    /// that says so, and after those that were missing.
    fn behind(&mut self, _connection: ConnectionId, _direction: Direction, _is_behind: bool) {}
    /// Bytes that were given up on.
    fn gap(&mut self, _connection: ConnectionId, _direction: Direction, _gap: Gap) {}
    /// Every segment, for a picture of the connection over time.
    fn segment(
        &mut self,
        _connection: ConnectionId,
        _direction: Direction,
        _segment: &TracedSegment,
    ) {
    }
    /// A segment was acknowledged.
    fn round_trip(&mut self, _connection: ConnectionId, _direction: Direction, _of: RoundTrip) {}
    /// A time in which the sender was in one state.
    fn span(&mut self, _connection: ConnectionId, _direction: Direction, _span: Span) {}
    /// The sender was not allowed to send.
    fn zero_window(&mut self, _connection: ConnectionId, _direction: Direction, _of: ZeroWindow) {}
    /// The sender waited for a delayed acknowledgement.
    fn stall(&mut self, _connection: ConnectionId, _direction: Direction, _stall: Stall) {}
    /// Nothing more will come of the connection. What was held back behind holes came just before.
    fn ended(&mut self, _connection: ConnectionId, _summary: &ConnectionSummary) {}
}

/// A segment, with what the connection makes of it. After Stevens' time-sequence diagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedSegment {
    /// Number of its packet, from 1.
    pub packet: u64,
    /// When it was captured.
    pub time: Timestamp,
    /// Places of its payload, as `Chunk::offset`; negative for what was sent before the first byte that was seen. None
    /// while nothing but acknowledgements was seen of this direction.
    pub places: Option<Range<i64>>,
    /// Bytes of the payload that were seen before.
    pub retransmitted_bytes: u32,
    /// Whether it fills a hole: later bytes were seen before.
    pub is_out_of_order: bool,
    /// Place in the other direction up to which it acknowledges all.
    pub acknowledged: Option<i64>,
    /// Bytes beyond that which the sender of this segment takes; none where the scale is not known.
    pub window_bytes: Option<u64>,
    /// Bytes of this direction that are not acknowledged now; none before an acknowledgement was seen.
    pub bytes_in_flight: Option<u64>,
    /// Flags.
    pub flags: TcpFlags,
}

/// From a segment to its acknowledgement, as seen where packets were captured.
///
/// As tcptrace has it: of segments whose end is acknowledged exactly, that were sent once (Karn's algorithm), and before
/// whose acknowledgement nothing earlier was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Number of the packet with the acknowledgement.
    pub packet: u64,
    /// When it was captured.
    pub time: Timestamp,
    /// Since the segment was captured.
    pub duration: Duration,
}

/// What a sender was doing. A sender that has sent nothing, or all of it acknowledged, is idle: what is in no span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderState {
    /// It had data unacknowledged.
    Busy,
    /// It was busy, and the receiver's window was nearly full in three flights or more, one after another. Such a span
    /// lies within busy ones, or reaches over short pauses between them.
    ReceiverLimited,
}

/// A time in which a sender was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The state.
    pub state: SenderState,
    /// From when.
    pub start: Timestamp,
    /// To when.
    pub end: Timestamp,
}

/// A time in which the receiver took nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroWindow {
    /// Number of the packet that advertised no window first.
    pub first_packet: u64,
    /// When.
    pub start: Timestamp,
    /// Number of the packet that opened the window again; none when none did.
    pub last_packet: Option<u64>,
    /// When; else the time of the connection's last packet.
    pub end: Timestamp,
}

/// A sender that held a small segment back until a delayed acknowledgement came: Nagle's algorithm (RFC 9293, section
/// 3.7.4) against delayed acknowledgements (section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Number of the packet with the small segment that was sent before.
    pub small_packet: u64,
    /// Number of the packet with the acknowledgement.
    pub acknowledgement_packet: u64,
    /// Number of the packet that was sent then.
    pub next_packet: u64,
    /// When that was.
    pub end: Timestamp,
    /// From the small segment to the acknowledgement.
    pub waited: Duration,
}

/// An observer, for one connection.
#[derive(Debug)]
pub(super) struct Output<'o, O> {
    pub(super) observer: &'o mut O,
    pub(super) connection: ConnectionId,
}

impl<O: TcpObserver> Output<'_, O> {
    pub(super) fn chunk(&mut self, direction: Direction, chunk: Chunk<'_>) {
        self.observer.chunk(self.connection, direction, chunk);
    }

    pub(super) fn gap(&mut self, direction: Direction, gap: Gap) {
        self.observer.gap(self.connection, direction, gap);
    }

    pub(super) fn behind(&mut self, direction: Direction, is_behind: bool) {
        self.observer.behind(self.connection, direction, is_behind);
    }

    pub(super) fn span(&mut self, direction: Direction, span: Span) {
        self.observer.span(self.connection, direction, span);
    }
}
