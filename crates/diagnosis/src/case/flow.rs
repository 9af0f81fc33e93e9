//! Flow control: processes that wait for credit, and the processes that grant none.

use serde::{Deserialize, Serialize};

/// Flow control of a node within a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Flow {
    /// Duration of the looks in milliseconds.
    pub elapsed_ms: u64,
    /// Number of looks at the watched processes.
    pub looks: u64,
    /// Looks that were left out because the node was too busy for them.
    pub missed_looks: u64,
    /// Connections, channels and queues of the node.
    pub candidates: u64,
    /// Number of passes over all candidates that were begun.
    pub passes: u64,
    /// Number of processes that were blocked in any look.
    pub blocked: u64,
    /// The processes that are blocked most often, and all their blockers.
    pub processes: Vec<FlowProcess>,
}

/// A process that was blocked, or that blocked others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowProcess {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role in RabbitMQ.
    pub role: String,
    /// Name of the process, queue, connection or channel.
    pub name: String,
    /// Name of the connection that the process serves; empty for others, like the next three.
    pub connection: String,
    /// The client's name for its connection.
    pub client: String,
    /// User of the connection.
    pub user: String,
    /// Virtual host of the connection.
    pub vhost: String,
    /// Number of looks at this process.
    pub looks: u64,
    /// Looks in which it was blocked.
    pub blocked: u64,
    /// Looks in which it ran, waited for a scheduler, or collected garbage.
    pub busy: u64,
    /// Mean length of its mailbox.
    pub mailbox: u64,
    /// Its blockers, each with the number of looks.
    pub blocked_by: Vec<(Blocker, u64)>,
}

/// A process or a queue that grants no credit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blocker {
    /// Pid of a process.
    Process(String),
    /// A queue that is not one process, by virtual host and name.
    Queue(String, String),
    /// A process of another node, or another term.
    Other(String),
}

/// Looks below which a share is not judged: one second.
const MIN_LOOKS: u64 = 20;

impl FlowProcess {
    /// Share of the looks in which the process was blocked, 0 to 1. `None` if there were too few looks.
    pub fn blocked_share(&self) -> Option<f64> {
        self.share(self.blocked)
    }

    /// Share of the looks in which the process was busy, 0 to 1. `None` if there were too few looks.
    pub fn busy_share(&self) -> Option<f64> {
        self.share(self.busy)
    }

    fn share(&self, count: u64) -> Option<f64> {
        (self.looks >= MIN_LOOKS).then(|| count as f64 / self.looks as f64)
    }
}
