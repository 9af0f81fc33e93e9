//! The messages that worker threads send to the coordinator of a run.

use super::{failure::Failure, measurements::IntervalMeasurements, observation::Observation};

/// What a worker reports.
pub(crate) enum Report {
    /// An interval is over.
    Interval(Box<IntervalReport>),
    /// What became of messages, for `run.verify`.
    Observed(Vec<Observation>),
    /// The run does not end as the scenario says, for this reason.
    CutShort(String),
    /// A connection cannot go on.
    Failed(Failure),
    /// The thread is done.
    Done,
}

/// What one worker counted in one interval.
pub(crate) struct IntervalReport {
    pub(crate) worker: usize,
    pub(crate) second: u32,
    /// Nanoseconds since the run began.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) draining: bool,
    /// Nothing follows from this worker.
    pub(crate) is_last: bool,
    pub(crate) measured: IntervalMeasurements,
    pub(crate) publisher_counts: PublisherCounts,
}

/// How many publishers a thread has, on how many connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PublisherCounts {
    pub(crate) publishers: usize,
    pub(crate) connections: usize,
}
