//! Figures of a connection, at its end or at any time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::endpoints::Endpoints;
use crate::packet::Timestamp;

/// Number of bits by which the windows are shifted that an end advertises (RFC 7323, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowScale {
    /// The SYNs were not seen, and no other source stated it.
    #[default]
    Unknown,
    /// Negotiated in the SYNs; 0 if one of them did not offer it.
    Agreed(u8),
    /// From another source, such as the kernel's socket diagnosis.
    Given(u8),
}

impl WindowScale {
    /// Returns the shift, if known.
    pub const fn shift(self) -> Option<u8> {
        match self {
            Self::Unknown => None,
            Self::Agreed(shift) | Self::Given(shift) => Some(shift),
        }
    }
}

/// Packets by length on the wire, in the classes of `tshark -z plen,tree`. The first class is below 20 bytes, the next
/// below 40, and so on, doubled each time. The last class begins at 5,120.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PacketSizes(pub [u64; 10]);

impl PacketSizes {
    /// Counts a packet.
    pub const fn add(&mut self, length: u32) {
        // ⌊log2(length / 20)⌋ + 1, and 0 below 20.
        let class = match (length / 20).checked_ilog2() {
            None => 0,
            Some(doublings) => doublings as usize + 1,
        };
        let last = self.0.len() - 1;
        self.0[if class < last { class } else { last }] += 1;
    }
}

/// Round trips of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundTripFigures {
    /// Number of round trips measured.
    pub count: u64,
    /// The shortest.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
    /// Sum of all.
    pub total: Duration,
    /// Segments that were not timed because too many were unacknowledged.
    pub not_timed: u64,
}

impl RoundTripFigures {
    /// Adds a round trip.
    pub(super) fn add(&mut self, duration: Duration) {
        self.shortest = if self.count == 0 { duration } else { self.shortest.min(duration) };
        self.longest = self.longest.max(duration);
        self.total += duration;
        self.count += 1;
    }

    /// Returns the mean; none without round trips.
    pub fn mean(&self) -> Option<Duration> {
        let nanos = self.total.as_nanos().checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

/// Figures of a direction: the packets of one end, and the limits on its sending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DirectionFigures {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the wire, with all headers.
    pub packet_bytes: u64,
    /// Packets by length.
    pub packet_sizes: PacketSizes,
    /// Packets that only acknowledge: no payload, no SYN, FIN or RST.
    pub pure_acknowledgements: u64,
    /// Segments with payload.
    pub data_segments: u64,
    /// Bytes of payload, including retransmissions.
    pub data_bytes: u64,
    /// Bytes of payload that were not seen before.
    pub unique_bytes: u64,
    /// Segments with payload that was seen before.
    pub retransmitted_segments: u64,
    /// Bytes that were seen before.
    pub retransmitted_bytes: u64,
    /// Retransmitted segments that the receiver already had. It had acknowledged them, they probed for a window, or its
    /// window was nearly full.
    pub needless_segments: u64,
    /// Segments that the receiver reports as received twice (RFC 2883). They may overlap with the needless ones above.
    pub reported_duplicates: u64,
    /// Segments that fill a hole a round trip or more after it appeared. They were lost before the capture point, and
    /// retransmitted.
    pub late_segments: u64,
    /// Segments that fill a hole: they came after later bytes, and bring bytes that were not seen before.
    pub out_of_order_segments: u64,
    /// Bytes that come before the first byte that was seen, but arrived after it. They are in no chunk.
    pub bytes_before_start: u64,
    /// Abandoned holes, and ends of payloads that were not captured.
    pub gaps: u64,
    /// Bytes in the gaps.
    pub gap_bytes: u64,
    /// Largest payload of a segment. With segmentation offload it exceeds the path's segment size.
    pub largest_segment_bytes: u32,
    /// Largest payload of a segment that this end accepts, according to its SYN.
    pub max_segment_size: Option<u16>,

    /// Scale of the windows that this end advertises.
    pub window_scale: WindowScale,
    /// Largest window that it advertised, in bytes; not scaled if the scale is unknown.
    pub max_window_bytes: u64,
    /// Packets in which this end advertised a zero window.
    pub zero_window_packets: u64,
    /// Spans of zero window, each from the first such packet to the packet that reopened the window.
    pub zero_windows: u64,
    /// Their total duration.
    pub zero_window_time: Duration,
    /// The longest of them.
    pub longest_zero_window: Duration,

    /// Largest number of unacknowledged bytes.
    pub max_bytes_in_flight: u64,
    /// Round trips of this end's segments, including SYN and FIN.
    pub round_trips: RoundTripFigures,
    /// Time from this end's SYN to its acknowledgement.
    pub syn_round_trip: Option<Duration>,
    /// Time in which this end had unacknowledged data; zero in a direction that is never acknowledged.
    pub busy_time: Duration,
    /// Part of the busy time in which the other end's window limited this end; none if that window's scale is unknown.
    pub receiver_limited_time: Option<Duration>,
    /// Flights: a flight lasts from one acknowledgement of all earlier data to the next.
    pub flights: u64,
    /// Flights in which the other end's window was nearly full.
    pub receiver_limited_flights: u64,
    /// Number of waits for a delayed acknowledgement.
    pub stalls: u64,
    /// Total duration of these waits.
    pub stalled_time: Duration,

    /// Time of this end's FIN.
    pub fin: Option<Timestamp>,
    /// Time at which this end reset the connection.
    pub reset: Option<Timestamp>,
    /// Number of the packet with the reset.
    pub reset_packet: Option<u64>,
    /// True if its SYN was seen.
    pub has_syn: bool,
}

/// The reason why nothing more comes from a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionEnd {
    /// The connection continues, as far as is known.
    Open,
    /// The capture ended.
    Captured,
    /// The same ends opened another connection.
    Replaced,
    /// There were too many connections, and this one was idle longest.
    Evicted,
}

/// Summary of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionSummary {
    /// Its ends.
    pub endpoints: Endpoints,
    /// Time of its first packet.
    pub first: Timestamp,
    /// Time of its last packet.
    pub last: Timestamp,
    /// The reason of its end, if it has ended.
    pub end: ConnectionEnd,
    /// Figures of the opener as sender.
    pub forward: DirectionFigures,
    /// Figures of the other end as sender.
    pub reverse: DirectionFigures,
}

impl DirectionFigures {
    /// Returns the number of segments that the path lost: retransmissions, without those that the receiver already had.
    pub fn missing_segments(&self) -> u64 {
        let needless = self.needless_segments.max(self.reported_duplicates);
        self.retransmitted_segments.saturating_sub(needless) + self.late_segments
    }
}

impl ConnectionSummary {
    /// Returns whether the ends closed it: both sent a FIN, or one reset it.
    pub const fn is_closed(&self) -> bool {
        let (forward, reverse) = (&self.forward, &self.reverse);
        forward.reset.is_some()
            || reverse.reset.is_some()
            || (forward.fin.is_some() && reverse.fin.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fall_into_the_classes_of_tshark() {
        let check = |length: u32, class: usize| {
            let mut sizes = PacketSizes::default();
            sizes.add(length);
            assert_eq!(sizes.0.iter().position(|count| *count == 1), Some(class), "{length}");
        };
        for (length, class) in [(0, 0), (19, 0), (20, 1), (39, 1), (40, 2), (79, 2), (80, 3)] {
            check(length, class);
        }
        for (length, class) in [(159, 3), (160, 4), (319, 4), (2560, 8), (5119, 8), (5120, 9)] {
            check(length, class);
        }
        check(u32::MAX, 9);
    }

    #[test]
    fn means_need_a_round_trip() {
        let mut figures = RoundTripFigures::default();
        assert_eq!(figures.mean(), None);
        for millis in [5, 1, 3] {
            figures.add(Duration::from_millis(millis));
        }
        let [one, three, five] = [1, 3, 5].map(Duration::from_millis);
        assert_eq!((figures.shortest, figures.mean(), figures.longest), (one, Some(three), five));
    }
}
