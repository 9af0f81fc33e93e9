//! The report as a whole.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    CaptureReport, ConnectionEvent, ConnectionReport, DirectionReport, EventKind, Finding,
    FrameCount, Ladder, LatencyReport, NotJudged, RoundTrips, SizeBin, SocketReport, Source,
    TimeSequence, WriteSizes,
};
use crate::packet::Timestamp;

/// Version of the format. It rises with a change that would mislead readers of an earlier version.
pub const FORMAT_VERSION: u32 = 1;

/// The packet report of a broker, from packets and sockets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PacketReport {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Subject of the report, in words: a file, or the ports of a node.
    pub subject: String,
    /// Each source that could be used; for a missing one with the reason.
    pub sources: Vec<Source>,
    /// The capture; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureReport>,
    /// Packets by length on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeBin>,
    /// All connections together.
    pub totals: Totals,
    /// Frames of all connections by protocol, kind and sender, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameCount>,
    /// Latencies on the wire, all connections together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyReport>,
    /// Connections, those with the most bytes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionReport>,
    /// Connections that are counted in `totals` but have no row of their own.
    #[serde(default)]
    pub connections_without_row: u64,
    /// The kernel's figures of the sockets; absent if they were not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<SocketReport>,
    /// Sockets whose figures were not read, because there were too many.
    #[serde(default)]
    pub sockets_left_out: u64,
    /// Sizes of the broker's writes and reads; absent without the tracepoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<WriteSizes>,
    /// Problems to fix, worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Rules that could not judge the report, with the reason. Absent in reports of earlier versions, which do not
    /// record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<Vec<NotJudged>>,
    /// Problems on connections, in the order in which they were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ConnectionEvent>,
    /// Sequence numbers against time, of the most interesting connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_sequences: Vec<TimeSequence>,
    /// Frames between client and broker, of a channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
}

impl PacketReport {
    /// Returns the events of a kind.
    pub fn events_of(&self, kind: EventKind) -> impl Iterator<Item = &ConnectionEvent> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// Returns the smallest round trip from the broker to each client, in nanoseconds.
    ///
    /// A client that pauses before it sends acknowledges with its next message. In a capture, the pause looks like a long
    /// way. The kernel leaves out such acknowledgements. Where it was asked, a client without its figure has none.
    pub fn smallest_round_trips(&self) -> HashMap<&str, u64> {
        let smallest = |connection: &ConnectionReport| {
            let captured = &connection.from_broker.round_trips;
            let captured = (captured.count > 0).then_some(captured.min);
            match (connection.kernel_round_trip_nanos, captured) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (None, captured) if self.sockets.is_empty() => captured,
                (of_kernel, _) => of_kernel,
            }
        };
        self.connections
            .iter()
            .filter_map(|connection| Some((connection.client.as_str(), smallest(connection)?)))
            .collect()
    }
}

/// All connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Totals {
    /// Time from the first packet to the last, in nanoseconds.
    pub duration_nanos: u64,
    /// Time of the first packet.
    pub first: Timestamp,
    /// TCP connections seen.
    pub connections: u64,
    /// Segments.
    pub segments: u64,
    /// Segments with payload.
    pub data_segments: u64,
    /// Bytes of payload, including repeated ones.
    pub payload_bytes: u64,
    /// Segments that repeat bytes.
    pub retransmitted_segments: u64,
    /// Segments that were lost on the path.
    #[serde(default)]
    pub missing_segments: u64,
    /// Frames of the broker's protocols.
    pub frames: u64,
    /// Messages from clients: publishes of every protocol.
    pub published: u64,
    /// Messages to clients.
    pub delivered: u64,
    /// Segments with payload from clients that contain a publish or a part of one.
    pub publish_segments: u64,
    /// Bytes of streams that no dissector could read.
    pub unread_bytes: u64,
    /// Round trips of the broker's segments, to the client and back, over all connections.
    #[serde(default)]
    pub round_trips: RoundTrips,
    /// Time in which clients had no room for the broker's data.
    #[serde(default)]
    pub client_zero_window: ZeroWindowTime,
    /// Time in which the broker had no room for the clients' data.
    #[serde(default)]
    pub broker_zero_window: ZeroWindowTime,
}

impl Totals {
    /// Adds a connection. Its segments are counted as they come.
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
    /// Adds the zero windows that the sender of a direction announced.
    fn add(&mut self, direction: &DirectionReport) {
        self.sum_nanos += direction.zero_window_nanos;
        self.longest_nanos = self.longest_nanos.max(direction.longest_zero_window_nanos);
        self.connections += u64::from(direction.zero_windows > 0);
    }
}

/// Time in which receivers announced a zero window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ZeroWindowTime {
    /// Sum over all connections.
    pub sum_nanos: u64,
    /// The longest span of a connection.
    pub longest_nanos: u64,
    /// Number of connections with a zero window.
    pub connections: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_the_way_better_than_the_capture() {
        let connection = |client: &str, count, min| {
            let mut connection =
                ConnectionReport { client: client.to_owned(), ..ConnectionReport::default() };
            connection.from_broker.round_trips = RoundTrips { count, min, ..RoundTrips::default() };
            connection
        };
        let mut report = PacketReport {
            connections: vec![
                connection("near:1", 9, 3_000_000),
                connection("far:2", 9, 20_000_000),
            ],
            ..PacketReport::default()
        };
        let captured = HashMap::from([("near:1", 3_000_000), ("far:2", 20_000_000)]);
        assert_eq!(report.smallest_round_trips(), captured);
        report.sockets = vec![SocketReport::default()];
        assert!(report.smallest_round_trips().is_empty());
        report.connections[0].kernel_round_trip_nanos = Some(40_000);
        report.connections[1].kernel_round_trip_nanos = Some(21_000_000);
        report.connections.push(connection("silent:3", 0, 0));
        let known = HashMap::from([("near:1", 40_000), ("far:2", 20_000_000)]);
        assert_eq!(report.smallest_round_trips(), known);
    }
}
