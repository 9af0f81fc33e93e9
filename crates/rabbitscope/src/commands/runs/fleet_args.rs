//! The options of a run about its workers.

use std::time::Duration;

use rabbitscope_runner::fleet::{FleetSettings, VIA_VARIABLE, bus};
use rabbitscope_terminal::UsageError;
use rabbitscope_text::parse_duration;

/// Options of a fleet as typed.
#[derive(Debug, clap::Args)]
#[group(id = "FleetArgs", multiple = true)]
pub(super) struct FleetArgs {
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

impl FleetArgs {
    /// Validates the options; absent if this process generates the load alone.
    pub(super) fn validate(self) -> anyhow::Result<Option<FleetSettings>> {
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
