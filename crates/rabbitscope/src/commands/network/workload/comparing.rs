//! `rabbitscope workload --compare`: a scenario is run, and its load compared with the one that it was made of.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_experiments::likeness::{check, replay};
use rabbitscope_files::input;
use rabbitscope_runner::fit;
use rabbitscope_runs::scenario::Scenario;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_workload::{Measurements, Verdict, compare};

use crate::{commands::runs::read_scenario, exit::Exit, interrupt};

/// Size of the largest file with measurements: thousands of groups.
const MAX_BYTES: u64 = 256 << 20;

/// Options of a comparison.
#[derive(Debug, clap::Args)]
pub(super) struct CompareArgs {
    /// Run this scenario on a throwaway broker, and compare its load with the one that it was made of
    ///
    /// The source's figures are in the file beside the scenario (`mine.likeness.json` for `mine.toml`), or in --source.
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["output", "pcap", "pid", "node", "interface", "duration"])]
    pub(super) compare: Option<PathBuf>,
    /// The source of the comparison: a capture file, or a file with measurements (.json)
    #[arg(long, value_name = "FILE", requires = "compare")]
    pub(super) source: Option<PathBuf>,
    /// Replace a value of the compared scenario, for example `publishers.0.rate=50`
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "compare")]
    set: Vec<String>,
    /// Directory for the run of the comparison, new or empty [default: runs/TIME-NAME]
    #[arg(long, value_name = "DIR", requires = "compare")]
    out: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long, requires = "compare")]
    json: bool,
}

/// Returns the path of the measurements beside a scenario.
pub(super) fn measurements_path(scenario: &Path) -> PathBuf {
    scenario.with_extension("likeness.json")
}

/// Reads a file with measurements.
pub(super) fn read_measurements(path: &Path) -> anyhow::Result<Measurements> {
    let cannot = || {
        format!(
            "cannot read the figures of the source from {}: `workload -o` writes them, or give a capture as --source",
            path.display()
        )
    };
    let text = input::read_text(path, MAX_BYTES).with_context(cannot)?;
    let form = |error| UsageError(format!("{}: {error}", path.display()));
    Ok(Measurements::from_json(&text).map_err(form)?)
}

impl CompareArgs {
    /// Runs the scenario and compares it with the source.
    pub(super) fn execute(&self, path: &Path, source: &Measurements) -> anyhow::Result<Exit> {
        let scenario = check(read_scenario(path, &self.set)?, source)?;
        for misfit in fit::misfits(&scenario) {
            output::note(&misfit);
        }
        let directory = self.directory(&scenario)?;
        let stop = interrupt::watch()?;
        let replayed = replay(&scenario, source, &directory, &stop)
            .inspect_err(|_| directory.discard_if_unused())?;
        let likeness = compare(source, &replayed.measured);
        if self.json {
            output::json(&likeness)?;
        } else {
            output::result(&likeness.text());
            output::result(&format!("results  {}", directory.path().display()));
        }
        for doubt in &replayed.doubts {
            output::note(&format!("the run is doubtful: {doubt}"));
        }
        Ok(match likeness.verdict() {
            Verdict::Alike => Exit::Done,
            Verdict::Differs => Exit::ExpectationFailed,
            Verdict::NotJudged => Exit::NotValid,
        })
    }

    fn directory(&self, scenario: &Scenario) -> anyhow::Result<RunDirectory> {
        match &self.out {
            Some(out) => RunDirectory::create(out),
            None => RunDirectory::create_named(&scenario.name),
        }
    }
}
