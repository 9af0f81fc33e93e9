//! Erlang processes, from inside the node.

/// The busiest and largest processes of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processes {
    /// Number of processes.
    pub count: u64,
    /// Reductions per second of all processes.
    pub reductions_per_second: f64,
    /// Those with the most reductions, the longest mailboxes, and those that flow control blocks or that block others.
    /// The busiest first.
    pub rows: Vec<ErlangProcess>,
}

/// An Erlang process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErlangProcess {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role in RabbitMQ: `reader`, `channel`, `queue`, `quorum_leader`, `ra_log`, `msg_store` …
    pub role: String,
    /// Registered name, or name of the queue, connection or channel.
    pub name: String,
    /// Virtual host of the queue; empty for others.
    pub vhost: String,
    /// Reductions per second.
    pub reductions_per_second: f64,
    /// Number of looks at this process (20 a second). 0 if it was not watched.
    pub looks: u64,
    /// Looks in which it ran, waited for a scheduler, or collected garbage.
    pub busy: u64,
    /// Looks in which its mailbox held a message.
    pub with_mail: u64,
    /// Mean length of the mailbox over the looks, or the length at the end without looks.
    pub mailbox: f64,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

impl ErlangProcess {
    /// Returns the share of the looks in which the process was busy, 0 to 1. `None` after fewer than 40 looks.
    pub fn busy_share(&self) -> Option<f64> {
        (self.looks >= 40).then(|| self.busy as f64 / self.looks as f64)
    }
}
