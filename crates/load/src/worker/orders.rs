//! What a worker is told, and what it tells.

use std::sync::{
    atomic::{AtomicBool, AtomicUsize},
    mpsc::Sender,
};

use crate::{clock::RunClock, connector::Connector, link::Failure, tally::Tally};

/// What a run is for its workers.
pub(crate) struct Orders<'a> {
    pub(crate) clock: RunClock,
    pub(crate) mark: u16,
    /// End of the load in nanoseconds since the run began.
    pub(crate) end: u64,
    pub(crate) control: &'a Control,
    pub(crate) reports: Sender<Report>,
    /// Makes lost connections again; absent: the first loss ends the run.
    pub(crate) connector: Option<&'a Connector<'a>>,
}

/// What the threads of a run share.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// The load ends; what is outstanding is awaited.
    pub(crate) ending: AtomicBool,
    /// The load ends at once.
    pub(crate) abort: AtomicBool,
    /// Publishers that have sent all their messages.
    pub(crate) publishers_done: AtomicUsize,
    /// Consumers that have received all their messages.
    pub(crate) consumers_done: AtomicUsize,
    /// Threads that await confirms; consumers go on while there are any.
    pub(crate) confirming: AtomicUsize,
}

/// What a worker reports.
pub(crate) enum Report {
    /// An interval is over.
    Part(Box<Part>),
    /// A connection cannot go on.
    Failed(Failure),
    /// The thread is done.
    Done,
}

/// What one worker counted in one interval.
pub(crate) struct Part {
    pub(crate) worker: usize,
    pub(crate) second: u32,
    /// Nanoseconds since the run began.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) draining: bool,
    pub(crate) tally: Tally,
}
