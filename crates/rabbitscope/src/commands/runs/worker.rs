//! `rabbitscope worker`: puts a part of the load of a run on, which another machine controls.

use crate::{
    commands::runs::run::URI_VARIABLE,
    exit::Exit,
    fleet::{self, VIA_VARIABLE},
    interrupt, output,
};

/// Put a part of the load on of `rabbitscope run --workers`
///
/// Whoever may use the bus decides what this machine sends to whom: see docs/security.md
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// The RabbitMQ over which controller and workers talk: amqp://USER:PASSWORD@HOST:PORT/VHOST
    #[arg(long, value_name = "URI", env = VIA_VARIABLE, hide_env_values = true)]
    via: String,
    /// The name of the fleet, where several use one bus
    #[arg(long, value_name = "NAME", default_value = "default")]
    fleet: String,
    /// Which part of the run to take, from 0 on [default: whichever is left]
    #[arg(long, value_name = "NUMBER", env = "JOB_COMPLETION_INDEX")]
    index: Option<u32>,
    /// The broker under test, whatever the controller says: no password of it travels on the bus then
    #[arg(long, env = URI_VARIABLE, hide_env_values = true)]
    uri: Option<String>,
    /// Wait for another run when one is done
    #[arg(long)]
    stay: bool,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let options = rabbitscope_fleet::WorkerOptions {
            bus: fleet::bus(&self.via)?,
            fleet: self.fleet.parse()?,
            index: self.index,
            broker: self.uri.into_iter().collect(),
            stays: self.stay,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let stop = interrupt::watch()?;
        let done = rabbitscope_fleet::serve(&options, &mut output::note, &stop)?;
        Ok(if done.failures > 0 { Exit::Failed } else { Exit::Done })
    }
}
