//! `rabbitscope worker`: puts part of a run's load on a broker, controlled from another machine.

use std::path::{Path, PathBuf};

use rabbitscope_files::SourceDirectory;
use rabbitscope_runner::fleet::{self, VIA_VARIABLE};
use rabbitscope_terminal::{UsageError, output};

use super::own_broker::OwnBrokerArgs;
use crate::commands::arguments::number;
use crate::{exit::Exit, interrupt};

/// Run as a load worker for `rabbitscope run --workers`
///
/// Users of the bus control the traffic that this machine sends: see docs/internals/safety.md.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// URI of the bus between controller and workers: amqp://USER:PASSWORD@HOST:PORT/VHOST
    #[arg(long, value_name = "URI", env = VIA_VARIABLE, hide_env_values = true)]
    via: String,
    /// Name of the fleet, if several use one bus
    #[arg(long, value_name = "NAME", default_value = "default")]
    fleet: String,
    /// Part of the run to take, from 0 on [default: any free one]
    #[arg(long, value_name = "NUMBER", env = "JOB_COMPLETION_INDEX", value_parser = number::<u32>)]
    index: Option<u32>,
    #[command(flatten)]
    broker: OwnBrokerArgs,
    /// Directory of files that a scenario may send (`body-files`)
    ///
    /// A scenario names a file by a path relative to DIR, or by a path that begins with DIR. Without this option, the
    /// worker sends no file of this machine.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// Wait for another run after each run
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
