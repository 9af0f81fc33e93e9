//! The requested experiment.

use serde::Deserialize;

use super::{Design, KnownExpectation, RunMetric, SweepAxis};

/// The compared arms and figures, and the number of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name in the result and in the directory's name.
    pub name: String,
    /// The question of the experiment, in words.
    pub description: String,
    /// Seed of the random order of runs.
    pub seed: u64,
    /// The scenario that all arms start from: a path as written in the file.
    pub base: String,
    /// The compared figures; the first is the primary one.
    pub metrics: Vec<RunMetric>,
    /// Number of rounds, looks and other choices of the design.
    pub design: Design,
    /// The arms, the baseline first; for a sweep, its cells. The control, if there is one, is the last.
    pub arms: Vec<Arm>,
    /// The axes of a sweep; empty for an experiment with arms.
    pub axes: Vec<SweepAxis>,
    /// Published results to compare with.
    pub known: Option<Known>,
}

/// One arm: the base scenario with changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// A scenario in place of the base: a path as written in the file.
    pub scenario: Option<String>,
    /// Overrides `key=value`, in the syntax of `--set`.
    pub overrides: Vec<String>,
    /// Keys of the scenario that name files, with the paths as written, relative to the experiment file.
    pub files: Vec<(&'static str, Vec<String>)>,
    /// The baseline a second time.
    pub control: bool,
    /// For a cell of a sweep, the index of its value on each axis.
    pub cell: Vec<usize>,
}

/// Published results.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Known {
    /// The expectations for this experiment.
    pub expect: Vec<KnownExpectation>,
    /// The publication and its statement.
    pub source: String,
}
