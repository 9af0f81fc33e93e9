//! Latencies between frames.

use rabbitscope_text::Percentiles;
use serde::{Deserialize, Serialize};

/// The two frames that bound a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyKind {
    /// From the last frame of a publish to its confirm, in any protocol.
    PublishToConfirm,
    /// The same, with unknown numbers of publishes, because the channel was opened before the capture. The confirmed
    /// publish was not later than the one that counts here, so it took at least as long.
    PublishToConfirmAtLeast,
    /// From the last frame of a delivery to its acknowledgement.
    DeliverToAck,
    /// From a request with a correlation id to its reply, as seen by the requester: publish to delivery.
    RequestToReply,
    /// From the delivery of a request to the publish of its reply: the responder's time.
    ServiceTime,
    /// From a synchronous method to its answer.
    Method,
}

/// A latency on the wire, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencyReport {
    /// The two frames that bound it.
    pub kind: LatencyKind,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Its percentiles, in the report beside the other keys.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// Frames that could not be matched.
    pub unmatched: Unmatched,
}

/// Frames without a partner, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unmatched {
    /// Latencies that had begun but not ended at the end of the capture.
    pub open: u64,
    /// Latencies that ended, but began before the capture or in a gap.
    pub unknown_begin: u64,
    /// Frames without a known number, because the capture began in the middle of a connection.
    pub unknown_number: u64,
    /// Frames that were dropped because too many were open at once.
    pub left_out: u64,
}
