//! What a worker is started with.

use rabbitscope_files::SourceDirectory;
use rabbitscope_runs::scenario::{Auth, Tls};

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
    /// The broker under test, whatever the controller says; absent: what the controller says.
    pub broker: Option<OwnBroker>,
    /// The directory of files that the controller's scenario may send; absent: none.
    pub files: Option<SourceDirectory>,
    /// It waits for another run after one is done.
    pub stays: bool,
    /// Of rabbitscope.
    pub version: String,
}

/// A broker that the worker's own user named, with the login and the trust of connections to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBroker {
    /// With its password.
    pub uri: String,
    /// The login of connections.
    pub auth: Auth,
    /// The certificates that are believed.
    pub tls: Tls,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Runs of which it put a part on.
    pub runs: u32,
    /// Runs of which it could not.
    pub failures: u32,
}
