//! Options and summary of a worker.

use rabbitscope_files::SourceDirectory;
use rabbitscope_runs::scenario::{Auth, Tls};

use crate::bus::{BusAddress, FleetName};

/// Options of a worker.
#[derive(Debug)]
pub struct WorkerOptions {
    /// Address of the bus.
    pub bus: BusAddress,
    /// Fleet of the worker.
    pub fleet: FleetName,
    /// The part of a run that the worker prefers.
    pub index: Option<u32>,
    /// The broker under test; it overrides the controller's. Absent: the controller's is used.
    pub broker: Option<OwnBroker>,
    /// Directory of the files that the controller's scenario may send; absent: none.
    pub files: Option<SourceDirectory>,
    /// Wait for another run after each run.
    pub stays: bool,
    /// Version of rabbitscope.
    pub version: String,
}

/// A broker that the worker's user named, with the login and the trusted certificates of its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBroker {
    /// Address, with its password.
    pub uri: String,
    /// Login of connections.
    pub auth: Auth,
    /// Trusted certificates.
    pub tls: Tls,
}

/// Summary of a worker's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Runs whose part succeeded.
    pub runs: u32,
    /// Runs whose part failed.
    pub failures: u32,
}
