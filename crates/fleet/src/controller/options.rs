//! Options of a controller, and its way to the bus.

use std::time::Duration;

use crate::{
    bus::{Bus, BusAddress, FleetName},
    error::FleetError,
};

/// Options of a controller.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// Address of the bus.
    pub bus: BusAddress,
    /// Fleet to control.
    pub fleet: FleetName,
    /// Number of workers for the load.
    pub workers: usize,
    /// Longest wait for the workers.
    pub patience: Duration,
    /// Resume a run whose controller died, if there is one.
    pub resume: bool,
    /// Version of rabbitscope.
    pub version: String,
}

/// Connects to the bus. Returns none if the fleet already has a controller.
pub(super) fn connect(options: &ControllerOptions) -> Result<Option<Bus>, FleetError> {
    let name = format!("rabbitscope controller of {}", options.fleet.as_str());
    let mut bus = Bus::connect(&options.bus, &options.fleet, &name)?;
    Ok(bus.receive_at(&options.fleet.controller_queue())?.then_some(bus))
}
