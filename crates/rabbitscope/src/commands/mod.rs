//! The commands, one file each: what may be typed, what of it is valid, and the call that does it.

mod arguments;
mod broker;
mod broker_uri;
mod calltree;
mod diff;
mod environment;
mod explain;
mod find_rate;
mod flamegraph;
mod functions;
mod leftovers;
mod load;
mod node;
mod profile;
mod queues;
mod report;
mod run;
mod run_options;
mod top;
mod trace;
mod who;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// Finds out why RabbitMQ is slow, and proves that a change made it faster.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  failed, or cut short
  2  wrong usage or scenario
  3  an expectation of the scenario was not met
  4  the run is not valid: the load generator was the limit, or it was not steady
  5  broker or node not reachable
  6  permission missing; the message names it";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Typed),
    Load(load::Args),
    FindRate(find_rate::Typed),
    Profile(profile::Typed),
    Flamegraph(flamegraph::Typed),
    Diff(diff::Typed),
    Trace(trace::Typed),
    Calltree(calltree::Typed),
    Functions(functions::Typed),
    Report(report::Typed),
    Leftovers(leftovers::Args),
    Queues(queues::Typed),
    Top(top::Typed),
    Broker(broker::Typed),
}

impl Cli {
    /// Does what was typed.
    pub fn execute(self) -> anyhow::Result<Exit> {
        if !self.command.may_record() {
            rabbitscope_probe::drop_privileges()?;
        }
        match self.command {
            Command::Run(typed) => typed.execute(),
            Command::Load(args) => args.execute(),
            Command::FindRate(typed) => typed.execute(),
            Command::Profile(typed) => typed.execute(),
            Command::Flamegraph(typed) => typed.execute(),
            Command::Diff(typed) => typed.execute(),
            Command::Trace(typed) => typed.execute(),
            Command::Calltree(typed) => typed.execute(),
            Command::Functions(typed) => typed.execute(),
            Command::Report(typed) => typed.execute(),
            Command::Leftovers(args) => args.execute(),
            Command::Queues(typed) => typed.execute(),
            Command::Top(typed) => typed.execute(),
            Command::Broker(typed) => typed.execute(),
        }
    }
}

impl Command {
    /// Whether it may look at a node from outside. Only the command itself knows whether it will.
    fn may_record(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Load(_) | Self::Profile(_))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
