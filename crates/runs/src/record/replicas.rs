//! Where the queues of a cluster were: who led them, and who was a member.

use serde::{Deserialize, Serialize};

/// All queues at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ReplicaSnapshot {
    /// Nanoseconds since the load began; the first is taken before, at 0.
    pub at_nanos: u64,
    /// Why then: `load begins`, `during fault 3`, `after fault 3`, `load ended`; faults are counted from 1 in the order in
    /// which they were due.
    pub when: String,
    /// The node that was asked.
    pub asked: String,
    /// The queues, in order of their names.
    pub queues: Vec<QueueReplicas>,
    /// Further queues, for which there was no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A queue or stream, and the nodes that it is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct QueueReplicas {
    /// Its name.
    pub name: String,
    /// `classic`, `quorum` or `stream`.
    #[serde(rename = "type")]
    pub queue_type: String,
    /// The node that leads it; absent: none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// All nodes that are to have it; of a classic queue its own and its mirrors.
    pub members: Vec<String>,
    /// Those of them that run and have it.
    pub online: Vec<String>,
}
