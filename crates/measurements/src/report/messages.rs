//! The messages that worker threads send to the coordinator of a run.

use serde::{Deserialize, Serialize};

use super::{failure::Failure, measurements::IntervalMeasurements, observation::Observation};
use crate::clock::RunInstant;

/// A message of a worker to the coordinator.
pub(crate) enum Report {
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
pub(crate) struct IntervalReport {
    pub(crate) worker: usize,
    pub(crate) second: u32,
    pub(crate) start: RunInstant,
    pub(crate) end: RunInstant,
    pub(crate) draining: bool,
    /// True in the last report of a worker.
    pub(crate) is_last: bool,
    pub(crate) measured: IntervalMeasurements,
    pub(crate) publisher_counts: PublisherCounts,
}

/// The publishers of a thread, and their connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct PublisherCounts {
    pub(crate) publishers: usize,
    pub(crate) connections: usize,
}
