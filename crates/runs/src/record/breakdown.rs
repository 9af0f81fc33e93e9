//! Latencies by group and by queue.

use serde::{Deserialize, Serialize};

use super::LatencyFigures;

/// Latencies of the measured time by group and queue that measured them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct LatencyBreakdown {
    /// The groups that measured something, in the order of the scenario.
    pub groups: Vec<GroupLatencies>,
    /// End-to-end latencies by source queue, if `run.latency-by-queue` asked for them.
    pub queues: Vec<QueueLatencies>,
    /// Number of groups and queues beyond the room here: they are in the totals only.
    pub left_out: u64,
}

/// Latencies that the members of a group measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GroupLatencies {
    /// `publishers`, `consumers` or `requests`.
    pub kind: String,
    /// Name of the group in the scenario.
    pub group: String,
    /// Latencies by name, with the names of the totals.
    pub latencies: Vec<LatencyFigures>,
}

/// Latencies of the messages that came from a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueLatencies {
    /// Name of the queue.
    pub queue: String,
    /// Latencies by name, with the names of the totals.
    pub latencies: Vec<LatencyFigures>,
}
