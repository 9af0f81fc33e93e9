//! The messages that worker threads send to the coordinator of a run.

use rabbitscope_timing::RunInstant;
use rabbitscope_verify::Observation;
use serde::{Deserialize, Serialize};

use super::{failure::Failure, measurements::IntervalMeasurements};

/// A message of a worker to the coordinator.
pub enum Report {
    /// An interval is over.
    Interval(Box<IntervalReport>),
    /// Observations of messages, for `run.verify` and `run.trace-every`.
    Observed(Vec<Observation>),
    /// The run ends contrary to the scenario, for this reason.
    CutShort(String),
    /// A connection cannot go on.
    Failed(Failure),
    /// The thread is done.
    Done,
}

/// The measurements of one worker in one interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct IntervalReport {
    /// Number of the load thread.
    pub worker: usize,
    /// Number of the interval, from 0.
    pub second: u32,
    /// Start of the interval.
    pub start: RunInstant,
    /// End of the interval.
    pub end: RunInstant,
    /// True if the load has ended, and the thread awaits outstanding messages.
    pub draining: bool,
    /// True in the last report of a worker.
    pub is_last: bool,
    /// Counts and latencies.
    pub measured: IntervalMeasurements,
    /// Publishers of the thread.
    pub publisher_counts: PublisherCounts,
}

/// The publishers of a thread, and their connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PublisherCounts {
    /// Number of publishers.
    pub publishers: usize,
    /// Number of their connections.
    pub connections: usize,
}
