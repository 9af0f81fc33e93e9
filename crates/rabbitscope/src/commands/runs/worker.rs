//! `rabbitscope worker`: puts part of a run's load on a broker, controlled from another machine.

use std::path::{Path, PathBuf};

use rabbitscope_files::SourceDirectory;

use super::own_broker::OwnBrokerArgs;
use crate::commands::arguments::number;
use crate::{
    exit::{Exit, UsageError},
    fleet::{self, VIA_VARIABLE},
    interrupt, output,
};

/// Put a part of the load on of `rabbitscope run --workers`
///
/// Whoever may use the bus decides what this machine sends to whom: see docs/internals/safety.md
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// The RabbitMQ over which controller and workers talk: amqp://USER:PASSWORD@HOST:PORT/VHOST
    #[arg(long, value_name = "URI", env = VIA_VARIABLE, hide_env_values = true)]
    via: String,
    /// The name of the fleet, where several use one bus
    #[arg(long, value_name = "NAME", default_value = "default")]
    fleet: String,
    /// Which part of the run to take, from 0 on [default: whichever is left]
    #[arg(long, value_name = "NUMBER", env = "JOB_COMPLETION_INDEX", value_parser = number::<u32>)]
    index: Option<u32>,
    #[command(flatten)]
    broker: OwnBrokerArgs,
    /// Send files below this directory when a scenario names them (`body-files`), relative to it or by a path that begins
    /// with DIR; without this no file of this machine is sent
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
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
            broker: self.broker.validate()?,
            files: self.files.as_deref().map(directory).transpose()?,
            stays: self.stay,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let stop = interrupt::watch()?;
        let done = rabbitscope_fleet::serve(&options, &mut output::note, &stop)?;
        Ok(if done.failures > 0 { Exit::Failed } else { Exit::Done })
    }
}

fn directory(path: &Path) -> Result<SourceDirectory, UsageError> {
    SourceDirectory::open(path)
        .map_err(|error| UsageError(format!("--files {}: {error}", path.display())))
}
