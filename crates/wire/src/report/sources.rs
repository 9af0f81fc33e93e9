//! Sources of the figures, and losses of the capture.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A source of figures, as `--explain` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Source {
    /// The level.
    pub level: SourceLevel,
    /// True if it was used.
    pub present: bool,
    /// The use of the source, or the reason why it was not used and the remedy.
    pub note: String,
}

/// Sources, by the privilege that they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceLevel {
    /// The kernel's diagnosis of sockets: no privilege.
    Sockets,
    /// Packets, from a ring of the kernel (`CAP_NET_RAW`) or a file.
    Packets,
    /// Sizes of writes and reads, from tracepoints (`CAP_BPF`, `CAP_PERFMON`).
    Writes,
}

/// The capture: its packets and its losses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CaptureReport {
    /// Packets read, of any kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that the kernel dropped because they were not read in time; none if unknown.
    pub dropped: Option<u64>,
    /// Packets whose end was not captured.
    pub cut: u64,
    /// Packets that were read and not analyzed.
    pub left_out: LeftOut,
    /// Segments that came in other packets, by tunnel.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tunnels: BTreeMap<String, u64>,
    /// Position and description of damage: the file ended in the middle of a packet, or had unreadable content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// Packets that were not analyzed, and gaps in streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LeftOut {
    /// Packets that are not TCP.
    pub not_tcp: u64,
    /// Packets that were captured more than once; the first counts.
    #[serde(default)]
    pub repeated: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Packets with headers that contradict themselves.
    pub malformed: u64,
    /// Packets whose captured part is shorter than their headers.
    pub truncated: u64,
    /// TCP of other ports.
    pub other_ports: u64,
    /// Connections that were evicted because there were too many at once.
    pub forgotten_connections: u64,
    /// Bytes that never arrived or were not captured.
    pub gap_bytes: u64,
    /// Gaps: holes in streams that were abandoned.
    pub gaps: u64,
}

/// The kernel's figures of a socket, over the observed time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SocketReport {
    /// This end, `address:port`.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// True if this end is the broker's.
    pub of_broker: bool,
    /// True if the broker opened the connection, to another node or service.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outgoing: bool,
    /// Observed time, in nanoseconds.
    pub observed_nanos: u64,
    /// Share of that time, 0 to 1, in which it had data to send; the resolution is a tick of the kernel.
    pub busy: Option<f64>,
    /// Share in which the receiver's window stopped it.
    pub receiver_limited: Option<f64>,
    /// Share in which its own send buffer stopped it.
    pub send_buffer_limited: Option<f64>,
    /// Bytes sent in that time, in segments with data.
    pub sent_bytes: Option<u64>,
    /// Segments with data sent in that time.
    pub data_segments_sent: Option<u64>,
    /// Bytes received in that time.
    pub received_bytes: Option<u64>,
    /// Segments with data received in that time.
    pub data_segments_received: Option<u64>,
    /// Segments retransmitted in that time.
    pub retransmitted: Option<u64>,
    /// Smallest round trip so far, in nanoseconds.
    pub min_round_trip_nanos: Option<u64>,
    /// Largest number of bytes that waited to be sent.
    pub max_unsent_bytes: Option<u64>,
    /// Largest number of bytes that waited to be read by this end's program.
    pub max_unread_bytes: Option<u64>,
}

/// Sizes of the broker's writes and reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WriteSizes {
    /// Writes by size: smallest size of the bin in bytes, and their number.
    pub writes: Vec<(u64, u64)>,
    /// Reads by size, likewise.
    pub reads: Vec<(u64, u64)>,
}
