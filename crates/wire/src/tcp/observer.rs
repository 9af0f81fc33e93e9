//! Events for the caller while segments come.

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

/// Receives the events of connections, in the order of packets. Every method has an empty default.
///
/// For one segment, the round trip that it ends comes first, then chunks and gaps, then the segment itself. Directions
/// are those of the bytes that an event concerns: of the acknowledged segment for a round trip, and of the stopped
/// sender for a zero window.
pub trait TcpObserver {
    /// Reports a connection that is seen for the first time.
    fn opened(&mut self, _connection: ConnectionId, _endpoints: &Endpoints) {}
    /// Reports bytes, in order.
    fn chunk(&mut self, _connection: ConnectionId, _direction: Direction, _chunk: Chunk<'_>) {}
    /// Reports that the receiver has bytes that were not seen yet, or that these were seen at last. The call comes
    /// before the bytes of the segment that shows it, and after the missing bytes.
    fn behind(&mut self, _connection: ConnectionId, _direction: Direction, _is_behind: bool) {}
    /// Reports bytes that reassembly no longer waits for.
    fn gap(&mut self, _connection: ConnectionId, _direction: Direction, _gap: Gap) {}
    /// Reports every segment, for a picture of the connection over time.
    fn segment(
        &mut self,
        _connection: ConnectionId,
        _direction: Direction,
        _segment: &TracedSegment,
    ) {
    }
    /// Reports that a segment was acknowledged.
    fn round_trip(&mut self, _connection: ConnectionId, _direction: Direction, _of: RoundTrip) {}
    /// Reports a span of time in which the sender was in one state.
    fn span(&mut self, _connection: ConnectionId, _direction: Direction, _span: Span) {}
    /// Reports a span of time in which the sender was not allowed to send.
    fn zero_window(&mut self, _connection: ConnectionId, _direction: Direction, _of: ZeroWindow) {}
    /// Reports that the sender waited for a delayed acknowledgement.
    fn stall(&mut self, _connection: ConnectionId, _direction: Direction, _stall: Stall) {}
    /// Reports the end of the connection. Bytes held back behind holes come just before.
    fn ended(&mut self, _connection: ConnectionId, _summary: &ConnectionSummary) {}
}

/// A segment with its place in the connection. After Stevens' time-sequence diagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedSegment {
    /// Number of its packet, from 1.
    pub packet: u64,
    /// Time of capture.
    pub time: Timestamp,
    /// Offsets of its payload, as `Chunk::offset`; negative for bytes before the first one that was seen. None while
    /// only acknowledgements were seen of this direction.
    pub places: Option<Range<i64>>,
    /// Bytes of the payload that were seen before.
    pub retransmitted_bytes: u32,
    /// True if it fills a hole: later bytes were seen before.
    pub is_out_of_order: bool,
    /// Offset in the other direction up to which it acknowledges all bytes.
    pub acknowledged: Option<i64>,
    /// Bytes beyond `acknowledged` that the sender of this segment accepts; none if the scale is unknown.
    pub window_bytes: Option<u64>,
    /// Bytes of this direction that are not acknowledged now; none before the first acknowledgement.
    pub bytes_in_flight: Option<u64>,
    /// Flags of the header.
    pub flags: TcpFlags,
}

/// Time from a segment to its acknowledgement, as seen at the capture point.
///
/// The rules are tcptrace's. The segment's end is acknowledged exactly, it was sent once (Karn's algorithm), and
/// nothing earlier was retransmitted before the acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Number of the packet with the acknowledgement.
    pub packet: u64,
    /// Capture time of that packet.
    pub time: Timestamp,
    /// Time since the segment was captured.
    pub duration: Duration,
}

/// State of a sender. A sender that has sent nothing, or has no unacknowledged data, is idle: idle time is in no span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderState {
    /// It had unacknowledged data.
    Busy,
    /// It was busy, and the receiver's window was nearly full in three or more consecutive flights. Such a span lies
    /// within busy ones, or bridges short pauses between them.
    ReceiverLimited,
}

/// A span of time in which a sender was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The state.
    pub state: SenderState,
    /// Start of the span.
    pub start: Timestamp,
    /// End of the span.
    pub end: Timestamp,
}

/// A span of time in which the receiver accepted nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroWindow {
    /// Number of the first packet that advertised a zero window.
    pub first_packet: u64,
    /// Time of that packet.
    pub start: Timestamp,
    /// Number of the packet that reopened the window, if any.
    pub last_packet: Option<u64>,
    /// Time of that packet; without one, the time of the connection's last packet.
    pub end: Timestamp,
}

/// A wait of a sender that held a small segment back until a delayed acknowledgement came: Nagle's algorithm (RFC 9293,
/// section 3.7.4) against delayed acknowledgements (section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Number of the packet with the preceding small segment.
    pub small_packet: u64,
    /// Number of the packet with the acknowledgement.
    pub acknowledgement_packet: u64,
    /// Number of the packet that was sent after it.
    pub next_packet: u64,
    /// Time of that packet.
    pub end: Timestamp,
    /// Time from the small segment to the acknowledgement.
    pub waited: Duration,
}

/// The observer of one connection.
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
