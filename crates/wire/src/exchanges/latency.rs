//! A latency, and its two endpoints in time.

use crate::{
    packet::Timestamp,
    protocols::{Frame, peer_of},
    report::{LatencyKind, Side, Unmatched},
};

/// The time between two related frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The kinds of the two frames.
    pub kind: LatencyKind,
    /// Kind of the frame that ended it: `basic.ack`, `queue.declare-ok`, `PUBACK`.
    pub name: &'static str,
    /// Sender of the first frame. Requests with a reply are seen twice if all connections are captured.
    /// [`Side::Client`] means from the request's publish to the reply's delivery, and [`Side::Broker`] from the
    /// request's delivery to the reply's publish.
    pub from: Side,
    /// The channel; for AMQP 1.0 that of the client's session; otherwise 0.
    pub channel: u16,
    /// Nanoseconds from the last byte of the first frame to the last byte of the second.
    pub nanos: u64,
    /// Number of the packet with the last byte of the first.
    pub first_packet: u64,
    /// Number of the packet with the last byte of the second.
    pub last_packet: u64,
    /// Time at which the second could be read.
    pub time: Timestamp,
}

/// A time at which a frame could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) time: Timestamp,
    pub(super) packet: u64,
}

impl Mark {
    pub(super) const fn from_frame(frame: &Frame<'_>) -> Self {
        Self { time: frame.place.time, packet: frame.place.last_packet }
    }
}

/// The end of a latency: the second frame, and its channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) kind: LatencyKind,
    name: &'static str,
    from: Side,
    channel: u16,
    mark: Mark,
}

impl Ending {
    pub(super) const fn new(kind: LatencyKind, frame: &Frame<'_>, channel: u16) -> Self {
        Self {
            kind,
            name: frame.kind,
            from: peer_of(frame.sender),
            channel,
            mark: Mark::from_frame(frame),
        }
    }

    /// Returns the same end for a latency of another kind.
    pub(super) const fn of_kind(self, kind: LatencyKind) -> Self {
        Self { kind, ..self }
    }

    pub(super) fn since(&self, begin: Mark) -> Latency {
        let nanos = self.mark.time.since(begin.time).as_nanos();
        Latency {
            kind: self.kind,
            name: self.name,
            from: self.from,
            channel: self.channel,
            nanos: u64::try_from(nanos).unwrap_or(u64::MAX),
            first_packet: begin.packet,
            last_packet: self.mark.packet,
            time: self.mark.time,
        }
    }
}

/// Returns the index of a side in an array.
pub(super) const fn index(side: Side) -> usize {
    match side {
        Side::Client => 0,
        Side::Broker => 1,
    }
}

/// Adds two sets of counts.
pub(super) const fn add(one: Unmatched, other: Unmatched) -> Unmatched {
    Unmatched {
        open: one.open + other.open,
        unknown_begin: one.unknown_begin + other.unknown_begin,
        unknown_number: one.unknown_number + other.unknown_number,
        left_out: one.left_out + other.left_out,
    }
}
