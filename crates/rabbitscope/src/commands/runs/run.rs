//! `rabbitscope run`: one run of a scenario.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_files::{MAX_TEXT_BYTES, input};
use rabbitscope_load::unreadable_file;
use rabbitscope_runs::scenario::{self, Scenario};
use rabbitscope_terminal::{UsageError, output};

use super::{broker_uri, run_options::RunOptions};
use rabbitscope_perftest::{self as perftest, Program};

use crate::{
    commands::{arguments::refuse_to_replace, environment},
    exit::Exit,
};

/// The environment variable with the broker's URI.
pub(in crate::commands) const URI_VARIABLE: &str = "RABBITSCOPE_URI";

/// Size limit of a file that a scenario names: a million names of queues.
const MAX_LIST_BYTES: u64 = 64 << 20;

/// Run a scenario: load, measurements, profile, report
///
/// Run only scenarios that you trust. A scenario with a throwaway broker decides which code runs in it (`erl-args`,
/// `config`, `advanced-config`, `plugins-directory`). Any scenario can send your files to a broker that it names.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Scenario, a TOML file
    #[arg(required_unless_present_any = ["from_perftest", "from_stream_perf_test", "from_omq"])]
    scenario: Option<PathBuf>,
    /// Print the scenario for this PerfTest command line, without running it; `load` runs it
    #[arg(
        long,
        value_name = "COMMAND LINE",
        allow_hyphen_values = true,
        conflicts_with_all = ["scenario", "RunOptions"]
    )]
    from_perftest: Option<String>,
    /// Print the scenario for this command line of Stream PerfTest, without running it
    #[arg(
        long,
        value_name = "COMMAND LINE",
        allow_hyphen_values = true,
        conflicts_with_all = ["scenario", "RunOptions", "from_perftest"]
    )]
    from_stream_perf_test: Option<String>,
    /// Print the scenario for this command line of omq, without running it
    #[arg(
        long,
        value_name = "COMMAND LINE",
        allow_hyphen_values = true,
        conflicts_with_all = ["scenario", "RunOptions", "from_perftest", "from_stream_perf_test"]
    )]
    from_omq: Option<String>,
    /// Use this broker instead of the scenario's: amqp://USER:PASSWORD@HOST:PORT/VHOST
    ///
    /// Other users can see a password on the command line, but not in the environment variable.
    #[arg(long, env = URI_VARIABLE, hide_env_values = true)]
    uri: Option<String>,
    #[command(flatten)]
    options: RunOptions,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        if let Some((program, command_line)) = self.foreign() {
            self.refuse_uri(program)?;
            rabbitscope_probe::drop_privileges()?;
            output::result(perftest::scenario_of(program, command_line)?.trim_end());
            return Ok(Exit::Done);
        }
        let path = self.scenario.as_ref().expect("the command line asks for it");
        if let Some(csv) = self.options.csv() {
            refuse_to_replace(csv, [path.as_path()])?;
        }
        let mut scenario = read_scenario(path, &self.options.set)?;
        if let Some(uri) = self.uri {
            broker_uri::replace(&mut scenario, vec![uri]);
        }
        self.options.run(scenario)
    }

    /// Returns the command line of another program that is to be converted.
    fn foreign(&self) -> Option<(Program, &str)> {
        let given = [
            (Program::PerfTest, &self.from_perftest),
            (Program::StreamPerfTest, &self.from_stream_perf_test),
            (Program::Omq, &self.from_omq),
        ];
        given.into_iter().find_map(|(program, line)| Some((program, line.as_deref()?)))
    }

    /// Refuses a URI on the command line, which would be ignored. The variable is for runs and may stay set.
    fn refuse_uri(&self, program: Program) -> Result<(), UsageError> {
        let is_typed = self.uri.is_some() && self.uri != std::env::var(URI_VARIABLE).ok();
        if is_typed {
            let converter = program.converter();
            return Err(UsageError(format!(
                "{converter} runs nothing: give --uri when you run the printed scenario"
            )));
        }
        Ok(())
    }
}

pub(in crate::commands) fn read_scenario(
    path: &Path,
    overrides: &[String],
) -> anyhow::Result<Scenario> {
    let file = path.display().to_string();
    let text = input::read_text(path, MAX_TEXT_BYTES)?;
    parse_scenario(&text, &file, overrides)
}

/// Parses a scenario's text, called `origin` in errors, with values from the environment and from the command line.
pub(super) fn parse_scenario(
    text: &str,
    origin: &str,
    overrides: &[String],
) -> anyhow::Result<Scenario> {
    // The command line comes last and takes precedence.
    let mut all = environment::overrides(std::env::vars_os())?;
    all.extend_from_slice(overrides);
    let mut read = |path: &str| {
        rabbitscope_files::read_text(Path::new(path), MAX_LIST_BYTES)
            .map_err(|error| error.to_string())
    };
    let parsed = scenario::parse_with_files(text, origin, &all, &mut read);
    let checked = parsed.and_then(|scenario| match unreadable_file(&scenario) {
        None => Ok(scenario),
        Some((key, why)) => Err(scenario::refusal(text, origin, &all, &key, why.to_string())),
    });
    checked.context("the scenario is not valid")
}
