//! `rabbitscope run`: a scenario, once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_data::scenario::{self, BrokerSpec, Scenario};

use super::environment;
use crate::{
    exit::{Exit, UsageError},
    experiment, interrupt, output, perftest,
    rundir::RunDirectory,
    watch::{self, Watchers},
};

/// Run a scenario: load, measurements, profile, report
#[derive(Debug, clap::Args)]
pub(super) struct Typed {
    /// The scenario, a TOML file
    #[arg(required_unless_present = "from_perftest")]
    scenario: Option<PathBuf>,
    /// Print the scenario that does what this PerfTest command line does, and run nothing
    #[arg(long, value_name = "COMMAND LINE", exclusive = true, allow_hyphen_values = true)]
    from_perftest: Option<String>,
    /// Replace a value of the scenario, for example `publishers.0.rate=5000`; the environment
    /// variable `RABBITSCOPE_SET_PUBLISHERS__0__RATE=5000` does the same
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Use this broker, whatever the scenario says: amqp://USER:PASSWORD@HOST:PORT/VHOST. Others
    /// can see a password on the command line; they cannot see one in the environment variable
    #[arg(long, env = "RABBITSCOPE_URI", hide_env_values = true)]
    uri: Option<String>,
    /// Directory for the results, new or empty [default: runs/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the run record as JSON
    #[arg(long)]
    json: bool,
}

struct Valid {
    scenario: Scenario,
    directory: RunDirectory,
    json: bool,
}

impl Typed {
    fn validate(self) -> anyhow::Result<Valid> {
        let path = self.scenario.expect("the command line asks for it");
        let mut scenario = read_scenario(&path, &self.set)?;
        if let Some(uri) = self.uri {
            scenario.broker = BrokerSpec::Existing { uris: vec![uri] };
        }
        experiment::check(&scenario)?;
        let directory = match self.out {
            Some(out) => RunDirectory::create(&out)?,
            None => RunDirectory::create_named(&scenario.name)?,
        };
        Ok(Valid { scenario, directory, json: self.json })
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        if let Some(command_line) = &self.from_perftest {
            output::result(perftest::scenario_of(command_line)?.trim_end());
            return Ok(Exit::Done);
        }
        let valid = self.validate()?;
        let stop = interrupt::watch()?;
        let watchers = Watchers::new(vec![Box::new(watch::Line::default())]);
        let finished = experiment::run(&valid.scenario, &valid.directory, watchers, &stop)
            .inspect_err(|_| valid.directory.discard_if_unused())?;
        if valid.json {
            output::json(&finished.record)?;
        } else {
            output::result(&experiment::summary(&finished, valid.directory.path()));
        }
        Ok(experiment::exit_code(&finished.record))
    }
}

fn read_scenario(path: &Path, overrides: &[String]) -> anyhow::Result<Scenario> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read the scenario {file}: {error}")))?;
    // What is typed comes last and so holds.
    let mut all = environment::overrides(std::env::vars());
    all.extend_from_slice(overrides);
    let mut read = |path: &str| fs::read_to_string(path).map_err(|error| error.to_string());
    scenario::parse_with_files(&text, &file, &all, &mut read).context("the scenario is not valid")
}
