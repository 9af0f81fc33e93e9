//! What is known of a connection: at its end, or at any time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::endpoints::Endpoints;
use crate::packet::Timestamp;

/// By how many bits windows are shifted that an end advertises (RFC 7323, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowScale {
    /// The SYNs were not seen, and nobody gave it.
    #[default]
    Unknown,
    /// The ends agreed on it, as their SYNs say; 0 where one of them did not offer it.
    Agreed(u8),
    /// From elsewhere, such as the kernel's socket diagnosis.
    Given(u8),
}

impl WindowScale {
    /// The shift, where it is known.
    pub const fn shift(self) -> Option<u8> {
        match self {
            Self::Unknown => None,
            Self::Agreed(shift) | Self::Given(shift) => Some(shift),
        }
    }
}

/// Packets by their length on the wire, in the classes of `tshark -z plen,tree`: below 20 bytes, below 40, and so on,
/// doubled each time; from 5,120 on in the last.
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
    /// How many were measured.
    pub count: u64,
    /// The shortest.
    pub shortest: Duration,
    /// The longest.
    pub longest: Duration,
    /// All of them together.
    pub total: Duration,
    /// Segments whose round trip was not measured because too many waited.
    pub not_timed: u64,
}

impl RoundTripFigures {
    /// Takes a round trip into account.
    pub(super) fn add(&mut self, duration: Duration) {
        self.shortest = if self.count == 0 { duration } else { self.shortest.min(duration) };
        self.longest = self.longest.max(duration);
        self.total += duration;
        self.count += 1;
    }

    /// The mean; none without any.
    pub fn mean(&self) -> Option<Duration> {
        let nanos = self.total.as_nanos().checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

/// Figures of a direction: of the packets that one end sent, and of what held it back.
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
    /// Bytes of payload, those that were sent again included.
    pub data_bytes: u64,
    /// Bytes of payload that were not seen before.
    pub unique_bytes: u64,
    /// Segments with payload that was seen before.
    pub retransmitted_segments: u64,
    /// Bytes that were seen before.
    pub retransmitted_bytes: u64,
    /// Of the segments that were sent again, those that the receiver had already: it had acknowledged them, or they asked
    /// for a window, or its window was nearly full.
    pub needless_segments: u64,
    /// Segments of which the receiver says that it got them twice (RFC 2883). It may say so of those above as well.
    pub reported_duplicates: u64,
    /// Segments that fill a hole a round trip or more after it was there: they were lost before they were seen, and sent again.
    pub late_segments: u64,
    /// Segments that fill a hole: they came after later bytes, and bring bytes that were not seen before.
    pub out_of_order_segments: u64,
    /// Bytes that were sent before the first byte that was seen, and came after it. They are in no chunk.
    pub bytes_before_start: u64,
    /// Holes that were given up, and ends of payloads that were not captured.
    pub gaps: u64,
    /// Bytes in them.
    pub gap_bytes: u64,
    /// Largest payload of a segment. With segmentation offload it is larger than what the path carries.
    pub largest_segment_bytes: u32,
    /// Most bytes of payload that this end takes in a segment, as its SYN says.
    pub max_segment_size: Option<u16>,

    /// Scale of the windows that this end advertises.
    pub window_scale: WindowScale,
    /// Largest window that it advertised, in bytes; not scaled where the scale is unknown.
    pub max_window_bytes: u64,
    /// Packets in which this end advertised no window.
    pub zero_window_packets: u64,
    /// Times in which it did, from the first such packet to the one that opened the window again.
    pub zero_windows: u64,
    /// Their time together.
    pub zero_window_time: Duration,
    /// The longest of them.
    pub longest_zero_window: Duration,

    /// Most bytes that were not acknowledged.
    pub max_bytes_in_flight: u64,
    /// Round trips of this end's segments; SYN and FIN are among them.
    pub round_trips: RoundTripFigures,
    /// From this end's SYN to its acknowledgement.
    pub syn_round_trip: Option<Duration>,
    /// How long this end had data unacknowledged. In no direction that is never acknowledged.
    pub busy_time: Duration,
    /// How long the other end's window held it back, within the busy time; none where the scale of that is unknown.
    pub receiver_limited_time: Option<Duration>,
    /// Flights: what is sent from one acknowledgement of all that was sent before to the next.
    pub flights: u64,
    /// Flights in which the other end's window was nearly full.
    pub receiver_limited_flights: u64,
    /// How often it waited for a delayed acknowledgement.
    pub stalls: u64,
    /// How long it did.
    pub stalled_time: Duration,

    /// When this end ended its direction.
    pub fin: Option<Timestamp>,
    /// When this end reset the connection.
    pub reset: Option<Timestamp>,
    /// Number of the packet in which it did.
    pub reset_packet: Option<u64>,
    /// Whether its SYN was seen.
    pub has_syn: bool,
}

/// Why nothing more comes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionEnd {
    /// It does go on, as far as is known.
    Open,
    /// The capture ended.
    Captured,
    /// The same ends opened another one.
    Replaced,
    /// There were too many connections, and this one was idle for longest.
    Evicted,
}

/// What is known of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionSummary {
    /// Its ends.
    pub endpoints: Endpoints,
    /// Time of its first packet.
    pub first: Timestamp,
    /// Time of its last packet.
    pub last: Timestamp,
    /// Whether more can come.
    pub end: ConnectionEnd,
    /// What the opener sent.
    pub forward: DirectionFigures,
    /// What the other one sent.
    pub reverse: DirectionFigures,
}

impl DirectionFigures {
    /// Segments that were lost on the way: those sent again, without those that the receiver had already.
    pub fn missing_segments(&self) -> u64 {
        let needless = self.needless_segments.max(self.reported_duplicates);
        self.retransmitted_segments.saturating_sub(needless) + self.late_segments
    }
}

impl ConnectionSummary {
    /// Whether the ends closed it: both ended their direction, or one reset it.
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
