//! The processes that put the load on, when there were several.

use serde::{Deserialize, Serialize};

/// The workers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FleetFacts {
    /// Name of the fleet.
    pub fleet: String,
    /// Where they talked to each other: host and port.
    pub bus: String,
    /// From the first to the last start, with the error of their clocks.
    pub start_skew_nanos: u64,
    /// The most by which a latency from one worker to another can be wrong: half of the smallest round trip of both
    /// clocks, and how far they went apart. 0: all have one clock.
    pub latency_error_nanos: u64,
    /// The controller was lost, and another went on.
    pub resumed: bool,
    /// By part.
    pub workers: Vec<FleetWorker>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FleetWorker {
    /// Name of its machine.
    pub host: String,
    /// Its process there.
    pub pid: u32,
    /// Threads that put load on.
    pub threads: u64,
    /// Connections.
    pub connections: u64,
    /// Its load began so long after the time that was agreed on.
    pub started_late_nanos: u64,
    /// Half of the smallest round trip to it; 0 when it has the controller's clock.
    pub clock_error_nanos: u64,
    /// How far its clock and the controller's went apart during the run; absent when that is not known.
    pub clock_drift_nanos: Option<u64>,
    /// Pings by which that was found out.
    pub pings: u64,
    /// It was not heard of for a while.
    pub lagged: bool,
    /// It was given up.
    pub lost: bool,
}
