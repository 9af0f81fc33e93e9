//! Measurements of a load: the reports of its threads, of this process and of others, and their sum.
//!
//! - `report`: counts and latencies of an interval, lost connections.
//! - `aggregate`: rows, totals, losses, the self-check of the load generator.
//! - `remote`: updates of other processes, and the reports in them.
//! - `outcome`: what a running and an ended load report.
//!
//! Not here: connections, threads and files. A caller passes reports on; how updates travel is not defined here.

mod aggregate;
mod outcome;
mod remote;
mod report;
mod shared_state;

pub use aggregate::{Aggregator, Waiting};
pub use outcome::{LoadOutcome, Progress};
pub use remote::{
    Collector, LostThreads, Merger, PartHost, PartSize, PartStart, PartState, PartWishes,
    RemoteEvent, RemoteStart, RemoteWorkers, RunAge, UpdateError, WorkerUpdate,
};
pub use report::{
    Failure, IntervalMeasurements, IntervalReport, ObservationRecorder, ObservationSettings,
    PublisherCounts, Report, Responsiveness, ServiceFindings, ServiceMonitor, Side, TimedChange,
};
pub use shared_state::{DoneMembers, SharedState};
