//! The leaders and members of the queues of a cluster.

use serde::{Deserialize, Serialize};

/// All queues at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ReplicaSnapshot {
    /// Nanoseconds since the load began; the first snapshot is taken before, at 0.
    pub at_nanos: u64,
    /// The occasion: `load begins`, `during fault 3`, `after fault 3`, `load ended`. Faults are counted from 1 in the
    /// order in which they were due.
    pub when: String,
    /// The node that received the query.
    pub asked: String,
    /// The queues, in order of their names.
    pub queues: Vec<QueueReplicas>,
    /// Number of further queues beyond the room here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// The reason why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A queue or stream, and its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct QueueReplicas {
    /// Name of the queue.
    pub name: String,
    /// `classic`, `quorum` or `stream`.
    #[serde(rename = "type")]
    pub queue_type: String,
    /// The node that leads the queue; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// All nodes that should have the queue; for a classic queue its own node and its mirrors.
    pub members: Vec<String>,
    /// The members that run and have the queue.
    pub online: Vec<String>,
}
