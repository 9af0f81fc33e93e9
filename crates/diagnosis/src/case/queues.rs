//! Queues of a node.

/// Queues whose leader is on the node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queues {
    /// Number of queues.
    pub count: u64,
    /// Ready messages of all queues.
    pub ready: u64,
    /// Unacknowledged messages of all queues.
    pub unacknowledged: u64,
    /// Number of leaders by node of the cluster.
    pub leaders: Vec<(String, u64)>,
    /// The longest, the busiest, and those with the most unacknowledged messages. The longest first.
    pub rows: Vec<QueueCase>,
    /// Queues that were asked and did not answer in time.
    pub silent: Vec<String>,
}

/// The type of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueKind {
    /// `classic`
    #[default]
    Classic,
    /// `quorum`
    Quorum,
    /// `stream`
    Stream,
    /// Another type, such as one of a plugin.
    Other,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueCase {
    /// Virtual host.
    pub vhost: String,
    /// Name.
    pub name: String,
    /// Type.
    pub kind: QueueKind,
    /// Pid of the process, leader or writer, as the node prints it.
    pub pid: String,
    /// Ready messages at the end.
    pub ready: u64,
    /// Growth of the ready messages per second.
    pub ready_growth: f64,
    /// Unacknowledged messages at the end.
    pub unacknowledged: u64,
    /// Number of consumers.
    pub consumers: u64,
    /// Unacknowledged messages that the prefetch of its active consumers permits. Absent if one has no limit, or if it is
    /// unknown.
    pub permitted: Option<u64>,
    /// Share of the time in which the queue could deliver to a consumer at once, 0 to 1. Absent if unknown.
    pub consumer_capacity: Option<f64>,
    /// Messages published into it per second. Absent without statistics.
    pub published_per_second: Option<f64>,
    /// Messages delivered or got per second. Absent without statistics.
    pub delivered_per_second: Option<f64>,
    /// Messages acknowledged per second. Absent without statistics.
    pub acknowledged_per_second: Option<f64>,
    /// Version of a classic queue, 1 or 2.
    pub classic_version: Option<u64>,
    /// Is true for a durable queue.
    pub is_durable: bool,
}

impl QueueCase {
    /// Returns whether the ready messages stay, or become fewer so slowly that they last for some seconds. Those of a burst
    /// do not.
    pub(crate) fn has_lasting_backlog(&self) -> bool {
        /// Seconds for which they last.
        const LASTING: f64 = 5.0;
        self.ready > 0 && self.ready as f64 >= LASTING * -self.ready_growth
    }
}
