//! The report as a whole.

use serde::{Deserialize, Serialize};

use super::{
    CaptureReport, ConnectionEvent, ConnectionReport, DirectionReport, EventKind, Finding,
    FrameCount, Ladder, LatencyReport, NotJudged, RoundTrips, SizeBin, SocketReport, Source,
    TimeSequence, WriteSizes,
};
use crate::packet::Timestamp;

/// Raised when a reader of an earlier form would be misled.
pub const FORMAT_VERSION: u32 = 1;

/// What packets and sockets say about a broker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PacketReport {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// What was looked at, in words: a file, or the ports of a node.
    pub subject: String,
    /// Each source that could be used, and why not where it was missing.
    pub sources: Vec<Source>,
    /// What was captured; absent without a capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureReport>,
    /// Packets by their length on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeBin>,
    /// All connections together.
    pub totals: Totals,
    /// Frames of all connections by protocol, kind and sender, most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameCount>,
    /// Latencies on the wire, all connections together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyReport>,
    /// Connections, most bytes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionReport>,
    /// Connections that are counted in `totals` and have no row of their own.
    #[serde(default)]
    pub connections_without_row: u64,
    /// What the kernel says of the sockets; absent where that was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<SocketReport>,
    /// Sockets that were not asked about, because there were too many.
    #[serde(default)]
    pub sockets_left_out: u64,
    /// Sizes of the broker's writes and reads; absent without the tracepoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<WriteSizes>,
    /// What to mend, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Rules of which nothing is said, with the reason; absent in a report of an earlier version, which does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<Vec<NotJudged>>,
    /// What went wrong on connections, in the order in which it was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ConnectionEvent>,
    /// Sequence numbers against time, of the connections that have most to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_sequences: Vec<TimeSequence>,
    /// Frames between client and broker, of a channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
}

impl PacketReport {
    /// Events of a kind.
    pub fn events_of(&self, kind: EventKind) -> impl Iterator<Item = &ConnectionEvent> {
        self.events.iter().filter(move |event| event.kind == kind)
    }
}

/// All connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Totals {
    /// From the first packet to the last, in nanoseconds.
    pub duration_nanos: u64,
    /// When the first packet was captured.
    pub first: Timestamp,
    /// TCP connections seen.
    pub connections: u64,
    /// Segments.
    pub segments: u64,
    /// Of those, with payload.
    pub data_segments: u64,
    /// Bytes of payload, repeated ones as well.
    pub payload_bytes: u64,
    /// Segments that repeat bytes.
    pub retransmitted_segments: u64,
    /// Segments that were lost on the way.
    #[serde(default)]
    pub missing_segments: u64,
    /// Frames of the broker's protocols.
    pub frames: u64,
    /// Messages from clients: publishes of every protocol.
    pub published: u64,
    /// Messages to clients.
    pub delivered: u64,
    /// Segments with payload from clients that had a publish or part of it.
    pub publish_segments: u64,
    /// Bytes of streams that no dissector could read.
    pub unread_bytes: u64,
    /// Round trips of the broker's segments, to the client and back, over all connections.
    #[serde(default)]
    pub round_trips: RoundTrips,
    /// How long clients had no room for what the broker sends.
    #[serde(default)]
    pub client_zero_window: ZeroWindowTime,
    /// How long the broker had no room for what clients send.
    #[serde(default)]
    pub broker_zero_window: ZeroWindowTime,
}

impl Totals {
    /// Adds a connection; its segments are counted as they come.
    pub(crate) fn add(&mut self, connection: &ConnectionReport, unread_bytes: u64) {
        let messages = &connection.messages;
        self.published += messages.published;
        self.delivered += messages.delivered;
        self.publish_segments += messages.publish_segments;
        self.unread_bytes += unread_bytes;
        self.missing_segments +=
            connection.from_client.missing_segments + connection.from_broker.missing_segments;
        self.round_trips.add(connection.from_broker.round_trips);
        self.client_zero_window.add(&connection.from_client);
        self.broker_zero_window.add(&connection.from_broker);
    }
}

impl ZeroWindowTime {
    /// Adds what the sender of a direction announced.
    fn add(&mut self, direction: &DirectionReport) {
        self.sum_nanos += direction.zero_window_nanos;
        self.longest_nanos = self.longest_nanos.max(direction.longest_zero_window_nanos);
        self.connections += u64::from(direction.zero_windows > 0);
    }
}

/// Time in which receivers announced a window of nothing, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ZeroWindowTime {
    /// Sum over all connections.
    pub sum_nanos: u64,
    /// The longest span of a connection.
    pub longest_nanos: u64,
    /// Connections that had any.
    pub connections: u64,
}
