//! The figures of latencies.

use rabbitscope_text::Percentiles;
use serde::{Deserialize, Serialize};

/// A latency in nanoseconds, without its histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencyFigures {
    /// `confirm`, `end-to-end` (until delivered), `processed` or `settled`, from the actual time of sending. With the
    /// suffix `-intended`, from the time that the schedule asked for. `client-delay`: the client's own part of the time
    /// from the schedule to the sending.
    pub name: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Its percentiles, in the record beside the other keys.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// A latency over the whole run, from the lossless histogram in `file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencySummary {
    /// Its figures, in the record beside the other keys.
    #[serde(flatten)]
    pub figures: LatencyFigures,
    /// Start and end of the latency, in words.
    pub description: String,
    /// Number of measurements that belong to messages overdue at the end. They count with their age at the end,
    /// although they took longer.
    #[serde(default, skip_serializing_if = "is_none")]
    pub overdue: u64,
    /// Percentiles for a drawing, as far into the tail as the number of measurements supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spectrum: Vec<SpectrumPoint>,
    /// The `.hlog` file in the run directory.
    pub file: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// One percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SpectrumPoint {
    /// Share of the measurements that are not above `nanos`, 0 to 1.
    pub quantile: f64,
    /// The latency in nanoseconds.
    pub nanos: u64,
}
