//! The processes of the load, if there were several.

use serde::{Deserialize, Serialize};

/// The workers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FleetFacts {
    /// Name of the fleet.
    pub fleet: String,
    /// Address of the bus of the workers: host and port.
    pub bus: String,
    /// Time from the first to the last start, including the error of the clocks.
    pub start_skew_nanos: u64,
    /// The largest possible error of a latency from one worker to another: half of the smallest round trip of both
    /// clocks, plus their drift. It is 0 if all workers have one clock.
    pub latency_error_nanos: u64,
    /// The controller was lost, and another resumed the run.
    pub resumed: bool,
    /// The workers by part of the load.
    pub workers: Vec<FleetWorker>,
}

/// One worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FleetWorker {
    /// Name of the worker's machine.
    pub host: String,
    /// Pid of the worker there.
    pub pid: u32,
    /// Number of load threads.
    pub threads: u64,
    /// Number of connections.
    pub connections: u64,
    /// Delay of the start of its load after the agreed time.
    pub started_late_nanos: u64,
    /// Half of the smallest round trip to it; 0 if it has the controller's clock.
    pub clock_error_nanos: u64,
    /// Drift between its clock and the controller's during the run; absent if unknown.
    pub clock_drift_nanos: Option<u64>,
    /// Number of pings behind that estimate.
    pub pings: u64,
    /// The worker was silent for a while.
    pub lagged: bool,
    /// The controller dropped the worker.
    pub lost: bool,
}
