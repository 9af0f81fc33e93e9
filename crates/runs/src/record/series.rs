//! One second of a run.

use serde::{Deserialize, Serialize};

use super::{Counters, NodeFigures, PollPoint, SecondLatencies};

/// A line of `series.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SecondRow {
    /// Seconds since the load started; the first line is 0 and covers the time from 0 to 1.
    pub second: u32,
    /// True length of the interval in nanoseconds (the last one may be shorter).
    pub interval_nanos: u64,
    /// The publishers have stopped, and outstanding confirms and messages are awaited. Such a row is no part of any
    /// rate.
    #[serde(default)]
    pub draining: bool,
    /// Part of the warm-up. Such a row is no part of any rate or whole-run latency.
    #[serde(default)]
    pub warming: bool,
    /// The counts of this second.
    #[serde(flatten)]
    pub counts: Counters,
    /// Connections that were up at the end of this second.
    #[serde(default)]
    pub connections: u64,
    /// Messages sent and not yet confirmed at the end of this second.
    pub unconfirmed: u64,
    /// Messages ready in the scenario's queues at the end of this second, if there are few queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_messages: Option<u64>,
    /// The latencies measured within this second.
    #[serde(flatten)]
    pub latencies: SecondLatencies,
    /// The points of each group of HTTP pollers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polls: Vec<PollPoint>,
    /// CPU of the broker in cores, user and system, if it is on this machine.
    pub broker_cpu_cores: Option<f64>,
    /// CPU of the broker's nodes on this machine, in cores; not in the file. Equals `broker_cpu_cores` if all nodes
    /// are.
    #[serde(skip)]
    pub local_broker_cores: Option<f64>,
    /// Resident memory of the broker in bytes, if it is on this machine.
    pub broker_rss_bytes: Option<u64>,
    /// Figures from inside the broker's node, or the first of a cluster. Absent if it could not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeFigures>,
    /// CPU of rabbitscope itself in cores.
    pub client_cpu_cores: Option<f64>,
    /// CPU of its busiest load thread, as a share of real time, 0 to 1.
    #[serde(default)]
    pub client_busiest_share: Option<f64>,
}
