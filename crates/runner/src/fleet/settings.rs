//! The settings of a run about its workers.

use std::time::Duration;

use rabbitscope_amqp::Uri;
use rabbitscope_fleet::{BusAddress, Controller, ControllerOptions, FleetName};
use rabbitscope_topology::Dialer;

/// The environment variable with the URI of the bus.
pub const VIA_VARIABLE: &str = "RABBITSCOPE_VIA";

/// The validated options.
#[derive(Clone, Debug)]
pub struct FleetSettings {
    /// The bus between controller and workers.
    pub bus: BusAddress,
    /// Name of the fleet.
    pub fleet: FleetName,
    /// Number of workers that generate the load.
    pub workers: u16,
    /// Time limit for the workers to join.
    pub patience: Duration,
    /// Resume a run whose controller was killed.
    pub resume: bool,
}

impl FleetSettings {
    /// Connects to the bus as the controller of the fleet.
    pub fn connect(&self) -> anyhow::Result<Controller> {
        let options = ControllerOptions {
            bus: self.bus.clone(),
            fleet: self.fleet.clone(),
            workers: usize::from(self.workers),
            patience: self.patience,
            resume: self.resume,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(Controller::connect(options)?)
    }
}

/// Returns the bus at this URI.
pub fn bus(via: &str) -> anyhow::Result<BusAddress> {
    let uri = Uri::parse(via)?;
    let connecting = rabbitscope_runs::scenario::Connecting::default();
    Ok(BusAddress::new(Dialer::new(vec![uri], &connecting, 1)?))
}
