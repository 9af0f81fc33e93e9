//! Explanations of the difference between two arms: their profiles and their latencies.

use serde::{Deserialize, Serialize};

use crate::record::SpectrumPoint;

/// The profiles of an arm's runs against those of the baseline, both merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileComparison {
    /// Index into [`ExperimentResult::arms`](super::ExperimentResult::arms).
    pub arm: usize,
    /// The event of the profiles, such as `cpu`.
    pub event: String,
    /// Rounds that count and in which both arms have a profile.
    pub rounds: usize,
    /// The factor by which shares scatter more between runs than by sampling, 1 or more.
    pub overdispersion: f64,
    /// The page with the flame graph of changes, below the directory of the experiment.
    pub page: String,
    /// The changes that exceed the differences between runs, the largest first.
    pub changes: Vec<FunctionChange>,
    /// The reason why there is no comparison, in words; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refusal: String,
}

/// A change of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FunctionChange {
    /// Name of the function.
    pub function: String,
    /// Own share of the whole profile, 0 to 1, of the baseline and of the arm.
    pub own: [f64; 2],
    /// Total share, likewise.
    pub total: [f64; 2],
    /// The share that changed by more than the differences between runs: `own`, `total` or `both`.
    pub moved: String,
}

/// A latency of an arm over the rounds that count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArmLatency {
    /// Index into [`ExperimentResult::arms`](super::ExperimentResult::arms).
    pub arm: usize,
    /// The name in a run's record, such as `confirm` or `end-to-end-intended`.
    pub name: String,
    /// Number of rounds with this latency.
    pub rounds: usize,
    /// The median of the rounds at each percentile that all of them support.
    pub spectrum: Vec<SpectrumPoint>,
}
