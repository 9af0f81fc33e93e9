//! `rabbitscope watch`: continuous recording of all nodes of this machine.

use std::{path::PathBuf, time::Duration};

use rabbitscope_terminal::output;
use rabbitscope_watch::{ConfigSource, TypedOptions};

use super::{
    arguments::{duration, within},
    runs::serve,
};
use crate::exit::Exit;

/// Profile all RabbitMQ nodes of this machine continuously, until Ctrl-C or SIGTERM
///
/// The recording is a series of windows. SIGHUP reloads the configuration file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Directory for the windows; it keeps one week, at most 2 GiB
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Configuration file, as in docs/reference/watch.md; command-line options take precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Samples per second on each CPU, 1 to 999 [default: 19]
    #[arg(long, value_name = "HZ", value_parser = within(1..=999_u32))]
    frequency: Option<u32>,
    /// Length of a window, 200ms to 10m [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    window: Option<Duration>,
    /// Also record the time that threads spend off the CPU
    #[arg(long)]
    off_cpu: bool,
    /// Show the latest window of each node in a browser on this machine, at the printed address, which is secret
    ///
    /// A free port is taken unless you give one: `--serve=8080`. The recording goes on without a viewer.
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = serve::port
    )]
    serve: Option<u16>,
    /// Check the configuration and list the nodes to record, without recording
    #[arg(long, visible_alias = "explain")]
    check: bool,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let source = ConfigSource {
            file: self.config,
            typed: TypedOptions {
                directory: self.output,
                freq_hz: self.frequency,
                window: self.window,
                has_off_cpu: self.off_cpu,
                is_served: self.serve.is_some(),
            },
        };
        if self.check {
            output::result(&rabbitscope_watch::check(&source)?);
        } else {
            let listener = self.serve.map(serve::listen).transpose()?;
            rabbitscope_watch::watch(&source, listener)?;
        }
        Ok(Exit::Done)
    }
}
