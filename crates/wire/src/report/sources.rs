//! Where the figures come from, and what was lost on the way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A source of figures, as `--explain` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Source {
    /// Which.
    pub level: SourceLevel,
    /// Whether it was used.
    pub present: bool,
    /// How it was used, or why it was not and what would help.
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

/// What was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CaptureReport {
    /// Packets read, of whatever kind.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that the kernel dropped because nobody read in time; none where that is not known.
    pub dropped: Option<u64>,
    /// Packets whose end was not captured.
    pub cut: u64,
    /// What was read and not analyzed.
    pub left_out: LeftOut,
    /// Segments that came in other packets, by what carried them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tunnels: BTreeMap<String, u64>,
    /// The file ended in the middle of a packet, or had something that is not read: where and what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// Packets that were not analyzed, and streams that were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LeftOut {
    /// No TCP.
    pub not_tcp: u64,
    /// Packets that were captured more than once; the first counts.
    #[serde(default)]
    pub repeated: u64,
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Headers that contradict themselves.
    pub malformed: u64,
    /// Captured shorter than their headers.
    pub truncated: u64,
    /// TCP of other ports.
    pub other_ports: u64,
    /// Connections that were forgotten because there were too many at once.
    pub forgotten_connections: u64,
    /// Bytes that never came or were not captured.
    pub gap_bytes: u64,
    /// Holes in streams that were given up.
    pub gaps: u64,
}

/// What the kernel says of a socket, over the time that it was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SocketReport {
    /// This end, `address:port`.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// Whether this end is the broker's.
    pub of_broker: bool,
    /// For how long it was asked, in nanoseconds.
    pub observed_nanos: u64,
    /// Shares of that time, 0 to 1, in which it had data to send; the grain is a tick of the kernel.
    pub busy: Option<f64>,
    /// In which the receiver's window stopped it.
    pub receiver_limited: Option<f64>,
    /// In which its own send buffer stopped it.
    pub send_buffer_limited: Option<f64>,
    /// Bytes sent meanwhile, in segments with data.
    pub sent_bytes: Option<u64>,
    /// Segments with data sent meanwhile.
    pub data_segments_sent: Option<u64>,
    /// Bytes received meanwhile.
    pub received_bytes: Option<u64>,
    /// Segments with data received meanwhile.
    pub data_segments_received: Option<u64>,
    /// Segments sent again meanwhile.
    pub retransmitted: Option<u64>,
    /// Smallest round trip so far, in nanoseconds.
    pub min_round_trip_nanos: Option<u64>,
    /// Most bytes that waited to be sent.
    pub max_unsent_bytes: Option<u64>,
    /// Most bytes that waited to be read by this end's program.
    pub max_unread_bytes: Option<u64>,
}

/// Sizes of the broker's writes and reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WriteSizes {
    /// Writes by size: smallest size of the bin in bytes, and how many.
    pub writes: Vec<(u64, u64)>,
    /// Reads likewise.
    pub reads: Vec<(u64, u64)>,
}
