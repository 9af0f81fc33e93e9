//! Latencies by group and by queue.

use serde::{Deserialize, Serialize};

/// Latencies of the measured time, apart for those who measured them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct LatencyBreakdown {
    /// In the order of the scenario; only groups that measured something.
    pub groups: Vec<GroupLatencies>,
    /// End-to-end latencies by the queue that was read, when `run.latency-by-queue` asked for them.
    pub queues: Vec<QueueLatencies>,
    /// Groups and queues for which there was no room: they are in the totals only.
    pub left_out: u64,
}

/// Latencies that the members of a group measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GroupLatencies {
    /// `publishers`, `consumers` or `requests`.
    pub kind: String,
    /// Its name in the scenario.
    pub group: String,
    /// By name, as in the totals.
    pub latencies: Vec<LatencyFigures>,
}

/// Latencies of the messages that came from a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueLatencies {
    /// Its name.
    pub queue: String,
    /// By name, as in the totals.
    pub latencies: Vec<LatencyFigures>,
}

/// A latency in nanoseconds, without its histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencyFigures {
    /// As in the totals, such as `confirm`.
    pub name: String,
    /// Number of measurements.
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
    /// 99.99 % are below.
    pub p9999: u64,
    /// Largest.
    pub max: u64,
}
