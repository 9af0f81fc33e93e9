//! What explains the difference of two arms: their profiles and their latencies.

use serde::{Deserialize, Serialize};

use crate::record::SpectrumPoint;

/// The profiles of an arm's runs against those of the baseline, both merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileComparison {
    /// Index into [`ExperimentResult::arms`](super::ExperimentResult::arms).
    pub arm: usize,
    /// What the profiles are of, such as `cpu`.
    pub event: String,
    /// Rounds in which both arms have a profile and that count.
    pub rounds: usize,
    /// How many times as much as by sampling shares scatter between runs, 1 or more.
    pub overdispersion: f64,
    /// The page with the flame graph of changes, below the directory of the experiment.
    pub page: String,
    /// What changed by more than runs differ by, the greatest mover first.
    pub changes: Vec<FunctionChange>,
    /// Why there is no comparison, in words; empty when there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refusal: String,
}

/// How a function changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FunctionChange {
    /// Its name.
    pub function: String,
    /// Own share of the whole profile, 0 to 1, of the baseline and of the arm.
    pub own: [f64; 2],
    /// Total share, likewise.
    pub total: [f64; 2],
    /// Which of the two changed by more than runs differ by: `own`, `total` or `both`.
    pub moved: String,
}

/// A latency of an arm over the rounds that count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArmLatency {
    /// Index into [`ExperimentResult::arms`](super::ExperimentResult::arms).
    pub arm: usize,
    /// As in a run's record, such as `confirm` or `end-to-end-intended`.
    pub name: String,
    /// Rounds that have it.
    pub rounds: usize,
    /// The median of the rounds at each percentile that all of them can tell.
    pub spectrum: Vec<SpectrumPoint>,
}
