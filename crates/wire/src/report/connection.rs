//! A connection.

use serde::{Deserialize, Serialize};

use super::{FrameCount, LatencyReport, MessageFigures};
use crate::packet::Timestamp;

/// A TCP connection and its traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionReport {
    /// The client's end, `address:port`.
    pub client: String,
    /// The broker's end.
    pub broker: String,
    /// The protocol's name; empty if no dissector recognized it.
    pub protocol: String,
    /// True if its first packet was seen.
    pub from_the_start: bool,
    /// Time of its first packet.
    pub first: Timestamp,
    /// Time of its last packet.
    pub last: Timestamp,
    /// The reason of its end, in words; empty while it lasts.
    pub ended: String,
    /// The client's direction.
    pub from_client: DirectionReport,
    /// The broker's direction.
    pub from_broker: DirectionReport,
    /// Its messages.
    pub messages: MessageFigures,
    /// Its frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameCount>,
    /// Its latencies, all channels together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyReport>,
    /// Number of used channels or sessions.
    pub channels: u64,
    /// Smallest round trip from the broker so far, in nanoseconds, by the kernel of the broker's socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_round_trip_nanos: Option<u64>,
}

/// One direction of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DirectionReport {
    /// Segments.
    pub segments: u64,
    /// Segments with payload.
    pub data_segments: u64,
    /// Segments that only acknowledge.
    pub pure_acks: u64,
    /// Bytes of payload, including repeated ones.
    pub payload_bytes: u64,
    /// Bytes of payload, each counted once.
    pub unique_bytes: u64,
    /// Segments that repeat bytes.
    pub retransmitted_segments: u64,
    /// Bytes that were retransmitted.
    pub retransmitted_bytes: u64,
    /// Segments that the path lost: retransmissions, without those that the receiver already had.
    #[serde(default)]
    pub missing_segments: u64,
    /// Segments that arrived out of order.
    pub out_of_order: u64,
    /// Median payload of the segments with payload, in bytes.
    pub median_payload: u64,
    /// Largest payload of a segment, in bytes.
    pub max_payload: u64,
    /// Largest segment that the sender may send, as the receiver's SYN announces it, in bytes.
    pub max_segment_size: Option<u16>,
    /// True if the scale of the windows that the sender announces is known.
    pub window_scale_known: bool,
    /// Announcements of a zero window by the sender of this direction.
    pub zero_windows: u64,
    /// Time in which its window was zero, in nanoseconds.
    pub zero_window_nanos: u64,
    /// The longest such span.
    pub longest_zero_window_nanos: u64,
    /// Packets of the first announcements of a zero window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zero_window_packets: Vec<u64>,
    /// Largest number of bytes that were sent and not acknowledged.
    pub max_in_flight: u64,
    /// Largest window that the receiver announced to the sender, in bytes; none if the scale is unknown.
    pub max_window: Option<u64>,
    /// Round trips of its segments, from segment to acknowledgement.
    pub round_trips: RoundTrips,
    /// Limits on the sender.
    pub limits: LimitShares,
    /// Number of times that a small segment waited for a delayed acknowledgement.
    pub delayed_ack_stalls: u64,
    /// Time spent in these waits, in nanoseconds.
    pub delayed_ack_nanos: u64,
    /// Packets of the first such waits: the small segment, the acknowledgement, and the next segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delayed_ack_packets: Vec<u64>,
}

/// Round trips, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundTrips {
    /// Number of samples.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: u64,
    /// Largest.
    pub max: u64,
}

impl RoundTrips {
    /// Adds the round trips of another direction.
    pub(crate) fn add(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        let sum = u128::from(self.mean) * u128::from(self.count)
            + u128::from(other.mean) * u128::from(other.count);
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.mean = u64::try_from(sum / u128::from(self.count)).unwrap_or(u64::MAX);
    }
}

/// Shares of a connection's time, 0 to 1, as far as the capture shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LimitShares {
    /// Share in which data was in flight.
    pub busy: f64,
    /// Share in which the receiver's window was full.
    pub receiver_window: f64,
    /// Share in which nothing was in flight: the application had nothing to send.
    pub idle: f64,
}
