//! A connection.

use serde::{Deserialize, Serialize};

use super::{FrameCount, LatencyReport, MessageFigures};
use crate::packet::Timestamp;

/// A TCP connection and what went over it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionReport {
    /// The client's end, `address:port`.
    pub client: String,
    /// The broker's end.
    pub broker: String,
    /// The protocol's name; empty where no dissector knew it.
    pub protocol: String,
    /// Whether its first packet was seen.
    pub from_the_start: bool,
    /// When its first packet was captured.
    pub first: Timestamp,
    /// When its last one was.
    pub last: Timestamp,
    /// How it ended, in words; empty while it lasts.
    pub ended: String,
    /// What the client sent.
    pub from_client: DirectionReport,
    /// What the broker sent.
    pub from_broker: DirectionReport,
    /// Its messages.
    pub messages: MessageFigures,
    /// Its frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameCount>,
    /// Its latencies, all channels together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyReport>,
    /// Channels or sessions that were used.
    pub channels: u64,
}

/// One direction of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DirectionReport {
    /// Segments.
    pub segments: u64,
    /// Of those, with payload.
    pub data_segments: u64,
    /// Of those without: acknowledgements alone.
    pub pure_acks: u64,
    /// Bytes of payload, repeated ones as well.
    pub payload_bytes: u64,
    /// Bytes of payload, each counted once.
    pub unique_bytes: u64,
    /// Segments that repeat bytes.
    pub retransmitted_segments: u64,
    /// Bytes that were sent again.
    pub retransmitted_bytes: u64,
    /// Segments that were lost on the way: without those that the receiver had already when they were sent again.
    #[serde(default)]
    pub missing_segments: u64,
    /// Segments that came out of order.
    pub out_of_order: u64,
    /// Median payload of segments that have some, in bytes.
    pub median_payload: u64,
    /// Largest payload of a segment, in bytes.
    pub max_payload: u64,
    /// The largest segment that the sender announced to take, in bytes.
    pub max_segment_size: Option<u16>,
    /// Whether the scale of the windows that the sender announces is known.
    pub window_scale_known: bool,
    /// Announcements of a window of nothing, by the sender of this direction.
    pub zero_windows: u64,
    /// Time in which its window was nothing, in nanoseconds.
    pub zero_window_nanos: u64,
    /// The longest such span.
    pub longest_zero_window_nanos: u64,
    /// Packets of the first announcements of a window of nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zero_window_packets: Vec<u64>,
    /// Most bytes that were sent and not acknowledged.
    pub max_in_flight: u64,
    /// Largest window that its receiver announced to it, in bytes, where the scale is known.
    pub max_window: Option<u64>,
    /// Round trips of its segments, from segment to acknowledgement.
    pub round_trips: RoundTrips,
    /// What kept the sender from sending more.
    pub limits: LimitShares,
    /// Times that a small segment waited for a delayed acknowledgement.
    pub delayed_ack_stalls: u64,
    /// Time in which it waited so, in nanoseconds.
    pub delayed_ack_nanos: u64,
    /// Packets of the first such waits: the small segment, the acknowledgement, what followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delayed_ack_packets: Vec<u64>,
}

/// Round trips, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundTrips {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: u64,
    /// Largest.
    pub max: u64,
}

impl RoundTrips {
    /// Adds those of another direction.
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

/// Shares of the time of a connection, 0 to 1, as far as the capture shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LimitShares {
    /// Data was on its way.
    pub busy: f64,
    /// Of all time: the receiver's window was full.
    pub receiver_window: f64,
    /// Nothing was on its way: the application had nothing to send.
    pub idle: f64,
}
