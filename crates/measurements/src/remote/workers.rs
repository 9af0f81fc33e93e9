//! The interface between the process that merges the parts of a run and the processes that run them.

use std::{sync::atomic::AtomicBool, time::Duration};

use super::part::{PartSize, PartWishes};

/// The processes that run the load.
pub trait RemoteWorkers {
    /// Waits at most `timeout` for the next event and returns it. Once `stop` is set, unreachable processes are not
    /// waited for.
    fn next(&mut self, timeout: Duration, stop: &AtomicBool) -> Option<RemoteEvent>;

    /// Sends wishes to all processes. Called often, mostly with the same wishes.
    fn wish(&mut self, wishes: PartWishes);

    /// Returns whether updates are still unread that were sent while no controller listened.
    fn is_behind(&self) -> bool;

    /// Drops this process. Ignores it from now on, and returns its description for people.
    fn give_up(&mut self, worker: usize) -> String;
}

/// The start of a run of several processes.
#[derive(Clone, Debug)]
pub struct RemoteStart {
    /// Start time in nanoseconds since 1970-01-01 UTC, for people.
    pub unix_nanos: u64,
    /// Size of the part of each process.
    pub parts: Vec<PartSize>,
    /// Age of the run.
    pub age: RunAge,
}

/// Age of a run, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunAge {
    /// Lower bound.
    pub at_least: Duration,
    /// Upper bound.
    pub at_most: Duration,
}

/// An event of a process. Processes are numbered from 0.
#[derive(Clone, Debug)]
pub enum RemoteEvent {
    /// A process sent an update.
    Update {
        /// Index of the process.
        worker: usize,
        /// The bytes that [`super::PartHost::send`] was given.
        update: Vec<u8>,
    },
    /// A notice for people: one sentence.
    Notice(String),
    /// A process has been silent for a while: one sentence.
    Lagging {
        /// Index of the process.
        worker: usize,
        /// Description of the process, and the length of the silence.
        reason: String,
    },
    /// A process was dropped: one sentence. Nothing from it counts any more.
    Lost {
        /// Index of the process.
        worker: usize,
        /// Description of the process, and the reason.
        reason: String,
    },
}
