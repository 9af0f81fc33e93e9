//! The options of a run about its workers.

use std::time::Duration;

use rabbitscope_amqp::Uri;
use rabbitscope_fleet::{BusAddress, Controller, ControllerOptions, FleetName};
use rabbitscope_load::Dialer;
use rabbitscope_text::parse_duration;

use crate::exit::UsageError;

/// The environment variable with the URI of the bus.
pub(crate) const VIA_VARIABLE: &str = "RABBITSCOPE_VIA";

/// Options of a fleet as typed.
#[derive(Debug, clap::Args)]
#[group(id = "FleetArgs", multiple = true)]
pub(crate) struct FleetArgs {
    /// Number of workers (`rabbitscope worker`) that generate the load, on any machine
    #[arg(long, value_name = "NUMBER", requires = "via", value_parser = workers)]
    workers: Option<u16>,
    /// URI of the bus between controller and workers: amqp://USER:PASSWORD@HOST:PORT/VHOST
    ///
    /// The bus is a RabbitMQ other than the broker under test.
    #[arg(long, value_name = "URI", env = VIA_VARIABLE, hide_env_values = true)]
    via: Option<String>,
    /// Name of the fleet, if several use one bus
    #[arg(long, value_name = "NAME", default_value = "default")]
    fleet: String,
    /// Time limit for the workers to join
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    worker_timeout: Duration,
    /// Resume a run of this scenario whose controller was killed, if there is one
    #[arg(long, requires = "workers")]
    resume: bool,
}

fn workers(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| UsageError("must be a number of 1 or more".to_owned()).to_string())
}

/// The validated options.
#[derive(Clone, Debug)]
pub(crate) struct FleetSettings {
    bus: BusAddress,
    fleet: FleetName,
    pub(crate) workers: u16,
    patience: Duration,
    resume: bool,
}

impl FleetArgs {
    /// Validates the options; absent if this process generates the load alone.
    pub(crate) fn validate(self) -> anyhow::Result<Option<FleetSettings>> {
        let Some(workers) = self.workers else { return Ok(None) };
        if workers == 0 {
            return Err(UsageError("--workers must be at least 1".to_owned()).into());
        }
        let via = self.via.expect("the command line asks for it");
        Ok(Some(FleetSettings {
            bus: bus(&via)?,
            fleet: self.fleet.parse()?,
            workers,
            patience: self.worker_timeout,
            resume: self.resume,
        }))
    }
}

impl FleetSettings {
    /// Connects to the bus as the controller of the fleet.
    pub(crate) fn connect(&self) -> anyhow::Result<Controller> {
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
pub(crate) fn bus(via: &str) -> anyhow::Result<BusAddress> {
    let uri = Uri::parse(via)?;
    let connecting = rabbitscope_runs::scenario::Connecting::default();
    Ok(BusAddress::new(Dialer::new(vec![uri], &connecting, 1)?))
}
