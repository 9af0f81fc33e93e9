//! What a worker is started with.

use crate::bus::{BusAddress, FleetName};

/// What a worker is started with.
#[derive(Debug)]
pub struct WorkerOptions {
    /// Where the bus is.
    pub bus: BusAddress,
    /// The fleet that it belongs to.
    pub fleet: FleetName,
    /// The part of a run that it would like to have.
    pub index: Option<u32>,
    /// The broker under test, whatever the controller says; empty: what the controller says.
    pub broker: Vec<String>,
    /// It waits for another run after one is done.
    pub stays: bool,
    /// Of rabbitscope.
    pub version: String,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Runs of which it put a part on.
    pub runs: u32,
    /// Runs of which it could not.
    pub failures: u32,
}
