//! Latencies between frames.

use serde::{Deserialize, Serialize};

/// From which frame to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyKind {
    /// From the last frame of a publish to its confirm, of whatever protocol.
    PublishToConfirm,
    /// The same where the numbers of publishes are not known, because the channel was opened before the capture: the publish
    /// that a confirm is for was not a later one than the one that counts here, so that it took at least as long.
    PublishToConfirmAtLeast,
    /// From the last frame of a delivery to its acknowledgement.
    DeliverToAck,
    /// From a request with a correlation id to its reply, as the requester has it: publish to delivery.
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
    /// From what to what.
    pub kind: LatencyKind,
    /// Measurements.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 95 % are below.
    pub p95: u64,
    /// 99 % are below.
    pub p99: u64,
    /// 99.9 % are below.
    pub p999: u64,
    /// Largest.
    pub max: u64,
    /// What could not be matched.
    pub unmatched: Unmatched,
}

/// Frames without a partner, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unmatched {
    /// Begun and not ended when the capture ended.
    pub open: u64,
    /// Ended, and begun before the capture or in a gap.
    pub unknown_begin: u64,
    /// Numbers were not known, because the capture began in the middle.
    pub unknown_number: u64,
    /// More were open at once than are kept.
    pub left_out: u64,
}
