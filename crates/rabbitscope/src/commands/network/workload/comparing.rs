//! `rabbitscope workload --compare`: a scenario is run, and its load compared with the one that it was made of.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_experiments::likeness::{check, replay};
use rabbitscope_files::input;
use rabbitscope_probe::choose_backend;
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
    /// With `--compare`: the source, which is a capture file, or a file with measurements (.json)
    #[arg(long, value_name = "FILE")]
    pub(super) source: Option<PathBuf>,
    /// With `--compare`: replace a value of the scenario, for example `publishers.0.rate=50`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// With `--compare`: directory for the run, new or empty [default: runs/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With `--compare`: print the comparison as JSON
    #[arg(long)]
    json: bool,
}

/// Returns the path of the measurements beside a scenario.
pub(super) fn measurements_path(scenario: &Path) -> PathBuf {
    scenario.with_extension("likeness.json")
}

/// Refuses a place for measurements that holds anything else, or, if none will be written, those of another load:
/// `--compare` would take them for the source.
pub(super) fn check_place(path: &Path, is_written: bool) -> Result<(), UsageError> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let place = path.display();
    if !is_written {
        return Err(UsageError(format!(
            "{place} has the figures of another load, which --compare would take for its source: choose another output"
        )));
    }
    let is_ours =
        input::read_text(path, MAX_BYTES).is_ok_and(|text| Measurements::from_json(&text).is_ok());
    if is_ours {
        return Ok(());
    }
    Err(UsageError(format!(
        "{place} would be replaced, but holds no figures of a load: choose another output"
    )))
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

/// Returns whether this program may record the brokers that it starts, and says so if not.
fn is_recording_permitted() -> bool {
    let choice = choose_backend(std::process::id(), None);
    if let Err(error) = &choice {
        output::note(&format!("no profile of the broker is recorded: {error}"));
    }
    choice.is_ok()
}

impl CompareArgs {
    /// Refuses options of a comparison without one.
    pub(super) fn refuse_without_comparison(&self) -> Result<(), UsageError> {
        let given = [
            ("--source", self.source.is_some()),
            ("--set", !self.set.is_empty()),
            ("--out", self.out.is_some()),
            ("--json", self.json),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(UsageError(format!("{option} needs --compare SCENARIO"))),
            None => Ok(()),
        }
    }

    /// Runs the scenario and compares it with the source.
    pub(super) fn execute(
        &self,
        path: &Path,
        source: &Measurements,
        is_profile_wanted: bool,
    ) -> anyhow::Result<Exit> {
        let is_profiled = is_profile_wanted && source.has_profile() && is_recording_permitted();
        let scenario = check(read_scenario(path, &self.set)?, source, is_profiled)?;
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
