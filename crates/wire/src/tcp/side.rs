//! One end of a connection, as the sender of bytes and as the advertiser of windows.

use std::time::Duration;

use super::{
    endpoints::Direction,
    figures::{DirectionFigures, PacketSizes, RoundTripFigures},
    pace::{Pace, Progress, nearly_full},
    reassembly::Reassembly,
    round_trips::Unacknowledged,
    sequence::{MAX_WINDOW_BYTES, Origin, Place},
    stalls::StallWatch,
    window::{Synchronization, Window},
};
use crate::{
    packet::Timestamp,
    segment::{Segment, TcpFlags},
};

/// Size of timestamps with the padding before them, in every segment of a connection that uses them.
const TIMESTAMPS_BYTES: u16 = 12;

/// Segment size to assume for an unknown path: the size that every host accepts (RFC 9293, section 3.7.1). Larger
/// segments are not small.
const LEAST_SEGMENT_BYTES: u32 = 536;

/// Counts of an end's packets.
#[derive(Debug, Default)]
pub(super) struct Counters {
    packets: u64,
    packet_bytes: u64,
    packet_sizes: PacketSizes,
    pure_acknowledgements: u64,
    data_segments: u64,
    data_bytes: u64,
    largest_segment_bytes: u32,
    pub(super) unique_bytes: u64,
    pub(super) retransmitted_segments: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) needless_segments: u64,
    pub(super) reported_duplicates: u64,
    pub(super) late_segments: u64,
    pub(super) out_of_order_segments: u64,
    pub(super) bytes_before_start: u64,
    pub(super) max_in_flight: u64,
    pub(super) round_trips: RoundTripFigures,
    pub(super) syn_round_trip: Option<Duration>,
    pub(super) fin: Option<Timestamp>,
    pub(super) reset: Option<Timestamp>,
    pub(super) reset_packet: Option<u64>,
}

/// An end of a connection.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) synchronization: Option<Synchronization>,
    pub(super) origin: Option<Origin>,
    /// Place after the last byte that was seen.
    pub(super) sent: Place,
    /// Place up to which the other end has acknowledged. Before there is an origin, `acknowledged_sequence` has it as a
    /// sequence number.
    pub(super) acknowledged: Option<Place>,
    acknowledged_sequence: Option<u32>,
    pub(super) reassembly: Reassembly,
    /// True if the other end has bytes that were not seen.
    is_behind: bool,
    pub(super) unacknowledged: Unacknowledged,
    pub(super) window: Window,
    pub(super) pace: Pace,
    pub(super) stalls: StallWatch,
    pub(super) counters: Counters,
}

impl Side {
    pub(super) fn new(direction: Direction) -> Self {
        Self {
            synchronization: None,
            origin: None,
            sent: 0,
            acknowledged: None,
            acknowledged_sequence: None,
            reassembly: Reassembly::new(direction),
            is_behind: false,
            unacknowledged: Unacknowledged::default(),
            window: Window::default(),
            pace: Pace::default(),
            stalls: StallWatch::default(),
            counters: Counters::default(),
        }
    }

    /// Counts a packet of this end.
    pub(super) fn count(&mut self, segment: &Segment<'_>) {
        let counters = &mut self.counters;
        counters.packets += 1;
        counters.packet_bytes += u64::from(segment.packet_length);
        counters.packet_sizes.add(segment.packet_length);
        if segment.payload_length > 0 {
            counters.data_segments += 1;
            counters.data_bytes += u64::from(segment.payload_length);
            counters.largest_segment_bytes =
                counters.largest_segment_bytes.max(segment.payload_length);
        } else if is_pure_acknowledgement(segment) {
            counters.pure_acknowledgements += 1;
        }
    }

    /// Returns the place of a sequence number of this end; none before its first segment.
    pub(super) fn place(&self, sequence: u32) -> Option<Place> {
        self.origin.map(|origin| origin.place(sequence, self.sent))
    }

    /// Returns the place of a sequence number. The first one defines place 0.
    pub(super) fn place_or_begin(&mut self, sequence: u32) -> Place {
        if let Some(place) = self.place(sequence) {
            return place;
        }
        let origin = Origin { sequence };
        self.origin = Some(origin);
        self.acknowledged = self.acknowledged_sequence.map(|sequence| origin.place(sequence, 0));
        0
    }

    /// Records an acknowledgement by the other end up to a sequence number. Returns its place, if it is plausible.
    pub(super) fn acknowledge(&mut self, sequence: u32) -> Option<Place> {
        let Some(origin) = self.origin else {
            self.acknowledged_sequence = Some(sequence);
            return None;
        };
        let before = self.acknowledged.unwrap_or(self.sent);
        let place = origin.place(sequence, before);
        if place > self.sent + MAX_WINDOW_BYTES {
            return None;
        }
        if self.acknowledged.is_none_or(|before| place > before) {
            self.acknowledged = Some(place);
        }
        Some(place)
    }

    /// Returns whether the other end has bytes that were not seen, if that has changed.
    pub(super) fn changes_behind(&mut self) -> Option<bool> {
        // A FIN takes a number and brings no byte.
        let acknowledged =
            self.acknowledged.unwrap_or(0) - Place::from(self.counters.fin.is_some());
        let is_behind = self.reassembly.is_behind(acknowledged);
        (std::mem::replace(&mut self.is_behind, is_behind) != is_behind).then_some(is_behind)
    }

    /// Returns whether a SYN of this end cannot belong to this connection.
    pub(super) fn contradicts(&self, syn_sequence: u32) -> bool {
        let begins = syn_sequence.wrapping_add(1);
        match (self.synchronization, self.origin, self.acknowledged_sequence) {
            (Some(syn), _, _) => syn.sequence != syn_sequence,
            (None, Some(origin), _) => origin.sequence != begins,
            (None, None, Some(acknowledged)) => acknowledged != begins,
            (None, None, None) => self.counters.packets > 0,
        }
    }

    /// Returns the largest payload of a segment of this end: the smaller size in both SYNs, else the largest that was
    /// seen.
    pub(super) fn segment_bytes(&self, peer: &Self) -> u32 {
        let sizes = [self.synchronization, peer.synchronization].into_iter().flatten();
        let stated = sizes.filter_map(|syn| {
            let times = if syn.has_timestamps { TIMESTAMPS_BYTES } else { 0 };
            syn.max_segment_size.map(|size| u32::from(size.saturating_sub(times)))
        });
        stated.min().unwrap_or(self.counters.largest_segment_bytes.max(LEAST_SEGMENT_BYTES))
    }

    /// Returns the time from the capture point to the other end and back plus that to this end and back. None if the
    /// handshake was not seen.
    pub(super) fn round_trip(&self, peer: &Self) -> Option<Duration> {
        Some(self.counters.syn_round_trip? + peer.counters.syn_round_trip?)
    }

    /// Returns the progress of this end; none before the first acknowledgement by the other end.
    pub(super) fn progress(&self, peer: &Self, time: Timestamp) -> Option<Progress> {
        let segment_bytes = u64::from(self.segment_bytes(peer));
        let nearly_full = peer.window.bytes().map(|bytes| nearly_full(bytes, segment_bytes));
        let (sent, acknowledged) = (self.sent, self.acknowledged?);
        Some(Progress { time, sent, acknowledged, nearly_full })
    }

    /// Returns the figures of this end's direction at a time.
    pub(super) fn figures(&self, peer: &Self, now: Timestamp) -> DirectionFigures {
        let counters = &self.counters;
        let (gaps, gap_bytes) = self.reassembly.gaps();
        let (busy_time, limited) = self.pace.times(now);
        let (flights, receiver_limited_flights) = self.pace.flights();
        let window = &self.window;
        let not_timed = self.unacknowledged.not_timed();
        DirectionFigures {
            packets: counters.packets,
            packet_bytes: counters.packet_bytes,
            packet_sizes: counters.packet_sizes,
            pure_acknowledgements: counters.pure_acknowledgements,
            data_segments: counters.data_segments,
            data_bytes: counters.data_bytes,
            unique_bytes: counters.unique_bytes,
            retransmitted_segments: counters.retransmitted_segments,
            retransmitted_bytes: counters.retransmitted_bytes,
            needless_segments: counters.needless_segments,
            reported_duplicates: counters.reported_duplicates,
            late_segments: counters.late_segments,
            out_of_order_segments: counters.out_of_order_segments,
            bytes_before_start: counters.bytes_before_start,
            gaps,
            gap_bytes,
            largest_segment_bytes: counters.largest_segment_bytes,
            max_segment_size: self.synchronization.and_then(|syn| syn.max_segment_size),
            window_scale: window.scale,
            max_window_bytes: window.largest,
            zero_window_packets: window.zero_packets,
            zero_windows: window.zeros,
            zero_window_time: window.zero_time,
            longest_zero_window: window.longest_zero,
            max_bytes_in_flight: counters.max_in_flight,
            round_trips: RoundTripFigures { not_timed, ..counters.round_trips },
            syn_round_trip: counters.syn_round_trip,
            busy_time,
            receiver_limited_time: peer.window.scale.shift().map(|_| limited),
            flights,
            receiver_limited_flights,
            stalls: self.stalls.stalls,
            stalled_time: self.stalls.stalled,
            fin: counters.fin,
            reset: counters.reset,
            reset_packet: counters.reset_packet,
            has_syn: self.synchronization.is_some(),
        }
    }
}

/// Returns whether a segment only acknowledges.
pub(super) fn is_pure_acknowledgement(segment: &Segment<'_>) -> bool {
    let others = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
    segment.payload_length == 0 && segment.flags.has(TcpFlags::ACK) && segment.flags.0 & others == 0
}
