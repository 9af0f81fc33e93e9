//! What whoever joins the parts of a run is told of the processes, and what it wants of them.

use std::time::Duration;

use super::part::{PartSize, PartWishes};

/// The processes that put a run on the broker.
pub trait RemoteWorkers {
    /// What happened next; waits for at most `timeout`.
    fn next(&mut self, timeout: Duration) -> Option<RemoteEvent>;

    /// What is wanted of all of them by now; called often, with the same mostly.
    fn wish(&mut self, wishes: PartWishes);

    /// Not all is read that was said while nobody listened.
    fn is_behind(&self) -> bool;

    /// Nothing of this process is taken any more. Returns who it is, for people.
    fn give_up(&mut self, worker: usize) -> String;
}

/// The start of a run of several processes.
#[derive(Clone, Debug)]
pub struct RemoteStart {
    /// Nanoseconds since 1970-01-01 UTC, for people.
    pub unix_nanos: u64,
    /// How large the part of each process is.
    pub parts: Vec<PartSize>,
    /// How long ago that was.
    pub age: RunAge,
}

/// How long ago a run began, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunAge {
    /// Not less.
    pub at_least: Duration,
    /// Not more.
    pub at_most: Duration,
}

/// What happened to a process. Processes are numbered from 0.
#[derive(Clone, Debug)]
pub enum RemoteEvent {
    /// It sent this.
    Update {
        /// Its number.
        worker: usize,
        /// As [`super::PartHost::send`] was given it.
        update: Vec<u8>,
    },
    /// Something that a person should know: one sentence.
    Notice(String),
    /// It was not heard of for a while: one sentence.
    Lagging {
        /// Its number.
        worker: usize,
        /// Who it is, and for how long.
        reason: String,
    },
    /// It is given up: one sentence. Nothing of it counts any more.
    Lost {
        /// Its number.
        worker: usize,
        /// Who it is, and why.
        reason: String,
    },
}
