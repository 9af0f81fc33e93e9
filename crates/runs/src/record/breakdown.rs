//! Latencies by group and by queue.

use serde::{Deserialize, Serialize};

use super::latency_figures::LatencyFigures;

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
