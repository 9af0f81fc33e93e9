//! The command line: every subcommand and its function.

use super::{
    broker, check, diff, environment,
    experiments::{compare, experiment, sweep},
    flamegraph, heatmap,
    inside::{calltree, functions, memory, process, queues, top, trace},
    leftovers,
    network::{packets, workload},
    profile, report,
    runs::{find_rate, load, run, serve, worker},
    watch,
};
use crate::exit::Exit;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use rabbitscope_files::FileMode;

/// Finds out why RabbitMQ is slow, and proves that a change made it faster.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// Permissions of output files [default: 0600, or those of your file that is replaced]
    ///
    /// 0600: only you can read the file. 0640: its group can read it. 0644: all users can read it.
    #[arg(long, global = true, value_name = "MODE", env = "RABBITSCOPE_FILE_MODE")]
    file_mode: Option<FileMode>,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  failed or cut short, or a node of the cluster is missing
  2  invalid usage or scenario
  3  an expectation of the scenario failed
  4  the run is not valid: the load generator was the bottleneck, or the run was not steady
  5  broker or node not reachable
  6  permission missing; the message names it";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Load(load::Args),
    Worker(worker::Args),
    Experiment(experiment::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    FindRate(find_rate::Args),
    Check(check::Args),
    Profile(profile::Args),
    Watch(watch::Args),
    Flamegraph(flamegraph::Args),
    Heatmap(heatmap::Args),
    Diff(diff::Args),
    Packets(packets::Args),
    Workload(workload::Args),
    Trace(trace::Args),
    Calltree(calltree::Args),
    Functions(functions::Args),
    Report(report::Args),
    Serve(serve::Args),
    Leftovers(leftovers::Args),
    Queues(queues::Args),
    Top(top::Args),
    Memory(memory::Args),
    Process(process::Args),
    Broker(broker::Args),
}

impl Cli {
    /// Parses the arguments and variables of this process.
    pub fn typed() -> Result<Self, clap::Error> {
        let line: Vec<_> = std::env::args_os().collect();
        let (mut command, matches) = environment::matches(Self::command(), &line)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Executes the command.
    pub fn execute(self) -> anyhow::Result<Exit> {
        if let Some(mode) = self.file_mode {
            mode.apply();
        }
        if !self.command.may_record() {
            rabbitscope_probe::drop_privileges()?;
        }
        match self.command {
            Command::Run(args) => args.execute(),
            Command::Load(args) => args.execute(),
            Command::Worker(args) => args.execute(),
            Command::Experiment(args) => args.execute(),
            Command::Compare(args) => args.execute(),
            Command::Sweep(args) => args.execute(),
            Command::FindRate(args) => args.execute(),
            Command::Check(args) => args.execute(),
            Command::Profile(args) => args.execute(),
            Command::Watch(args) => args.execute(),
            Command::Flamegraph(args) => args.execute(),
            Command::Heatmap(args) => args.execute(),
            Command::Diff(args) => args.execute(),
            Command::Packets(args) => args.execute(),
            Command::Workload(args) => args.execute(),
            Command::Trace(args) => args.execute(),
            Command::Calltree(args) => args.execute(),
            Command::Functions(args) => args.execute(),
            Command::Report(args) => args.execute(),
            Command::Serve(args) => args.execute(),
            Command::Leftovers(args) => args.execute(),
            Command::Queues(args) => args.execute(),
            Command::Top(args) => args.execute(),
            Command::Memory(args) => args.execute(),
            Command::Process(args) => args.execute(),
            Command::Broker(args) => args.execute(),
        }
    }
}

impl Command {
    /// Returns whether the command may record a node from outside. Only the command itself knows whether it will.
    fn may_record(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::Load(_)
                | Self::Check(_)
                | Self::Profile(_)
                | Self::Watch(_)
                | Self::Packets(_)
                | Self::Workload(_)
                | Self::Experiment(_)
                | Self::Compare(_)
                | Self::Sweep(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// The messages of the standard library name neither bounds nor format.
    #[test]
    fn wrong_values_are_named_in_own_words() {
        fn check(command: &clap::Command, line: &[String]) {
            let options = command.get_arguments().filter(|arg| arg.get_action().takes_values());
            for long in options.filter_map(|arg| arg.get_long()) {
                let wrong = line.iter().cloned().chain([format!("--{long}=x\u{e4}")]);
                let Err(error) = super::Cli::command().try_get_matches_from(wrong) else {
                    continue;
                };
                let said = error.to_string();
                for foreign in ["invalid digit", "invalid float", "cannot parse", "number too"] {
                    assert!(!said.contains(foreign), "{said}");
                }
            }
            for inner in command.get_subcommands() {
                let line = line.iter().cloned().chain([inner.get_name().to_owned()]);
                check(inner, &line.collect::<Vec<_>>());
            }
        }
        check(&super::Cli::command(), &["rabbitscope".to_owned()]);
    }
}
