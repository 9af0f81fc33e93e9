//! The directory of an experiment, new or continued.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_files::{Directory, input};
use rabbitscope_runs::{
    experiment::RunOfArm,
    scenario::{BrokerSpec, Scenario},
};
use rabbitscope_terminal::UsageError;

use super::{Plan, journal::Journal};

const EXPERIMENT: &str = "experiment.toml";

/// Size of the largest file of an arm: object code.
const MAX_CODE_BYTES: u64 = 16 << 20;

const JOURNAL: &str = "experiment.jsonl";

/// The place of an experiment.
#[derive(Debug)]
pub(super) struct ExperimentDirectory {
    path: PathBuf,
}

impl ExperimentDirectory {
    /// Creates the directory, or continues in one in which the same experiment was started. Stores the request in it:
    /// the experiment, and each arm's scenario with all replacements of values.
    pub(super) fn open(
        out: Option<&Path>,
        plan: &Plan,
    ) -> anyhow::Result<(Self, Journal, Vec<RunOfArm>)> {
        let path = match out {
            Some(path) if path.join(JOURNAL).exists() => {
                require_ours(path)?;
                path.to_owned()
            }
            Some(path) => RunDirectory::create(path)?.path().to_owned(),
            None => RunDirectory::create_named(&plan.experiment.name)?.path().to_owned(),
        };
        let directory = Self { path };
        directory.keep(EXPERIMENT, plan.text.as_bytes())?;
        Directory::make(&directory.path.join("arms"))?;
        for (number, planned) in (1..).zip(&plan.arms) {
            directory
                .keep(&format!("arms/{number:02}.toml"), planned.scenario.to_toml().as_bytes())?;
            directory.keep_code(number, &planned.scenario)?;
        }
        let (journal, runs) = Journal::open(&directory.path.join(JOURNAL))?;
        Ok((directory, journal, runs))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the code that replaces the broker's.
    fn keep_code(&self, number: usize, scenario: &Scenario) -> anyhow::Result<()> {
        let BrokerSpec::Throwaway(broker) = &scenario.broker.spec else { return Ok(()) };
        for file in broker.modules.iter().chain(&broker.patches).map(Path::new) {
            let code = input::read(file, MAX_CODE_BYTES)?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            self.keep(&format!("arms/{number:02}-{name}"), &code)?;
        }
        Ok(())
    }

    /// Writes a file of the request; refuses if a different text is there.
    fn keep(&self, name: &str, text: &[u8]) -> anyhow::Result<()> {
        let path = self.path.join(name);
        if !path.exists() {
            return Ok(rabbitscope_files::write(&path, text)?);
        }
        let there = rabbitscope_files::read(&path, MAX_CODE_BYTES)
            .with_context(|| format!("cannot read {}", path.display()))?;
        if there == text {
            return Ok(());
        }
        Err(UsageError(format!(
            "{} contains an experiment with another {name}: new measurements would not be comparable; choose a new \
             directory with --out",
            self.path.display()
        ))
        .into())
    }

    /// Returns a free name for a run's directory. A killed run keeps its directory.
    pub(super) fn place_of_run(&self, (round, position): (u32, usize), arm: &str) -> String {
        self.free_name(format!("runs/{round:03}-{position}-{}", plain_name(arm)))
    }

    /// Returns a free name for a run on which the arms take turns, from this round on.
    pub(super) fn place_of_live_run(&self, round: u32) -> String {
        self.free_name(format!("runs/{round:03}-live"))
    }

    fn free_name(&self, name: String) -> String {
        let again = (2..).map(|attempt| format!("{name}-attempt-{attempt}"));
        let mut names = std::iter::once(name.clone()).chain(again);
        names.find(|name| !self.path.join(name).exists()).unwrap_or(name)
    }
}

/// Requires the request, which is written before the first run. A journal without it belongs to another program.
fn require_ours(path: &Path) -> anyhow::Result<()> {
    if path.join(EXPERIMENT).is_file() {
        return Ok(());
    }
    Err(UsageError(format!(
        "{} has a file {JOURNAL} but no {EXPERIMENT}, so it contains no experiment; choose a new directory with --out",
        path.display()
    ))
    .into())
}

/// Converts the name of an arm to a part of a file name.
pub(super) fn plain_name(arm: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    arm.chars().take(40).map(plain).collect()
}
