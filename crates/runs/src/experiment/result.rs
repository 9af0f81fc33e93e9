//! `experiment.json`: every run of an experiment, and the joint result.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{ArmLatency, ProfileComparison};
use crate::record::PatchedModule;

/// Version of `experiment.json`. Raised when a reader of the old form would be misled.
pub const FORMAT_VERSION: u32 = 1;

/// An experiment and its result. The first arm is the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExperimentResult {
    /// [`FORMAT_VERSION`]
    pub format_version: u32,
    /// Name of the experiment.
    pub name: String,
    /// The question of the experiment, in words.
    #[serde(default)]
    pub description: String,
    /// Seed of the order of runs.
    pub seed: u64,
    /// The maximum number of requested rounds; dropped rounds do not count.
    pub rounds: u32,
    /// Numbers of counted rounds after which the result is looked at, ascending; the last is `rounds`.
    pub looks: Vec<u32>,
    /// Error rate of each look: 0.05 for one look, less for several, so that all looks together have 0.05.
    pub alpha: f64,
    /// Error rate of the interval that shows two arms to be equal: 0.1 for one look, less for several. All looks
    /// together call a change of exactly the size of `indifferent` equal in 5 % of the experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalence_alpha: Option<f64>,
    /// Changes below this share, such as 0.03, are of no interest; absent when nothing was declared.
    pub indifferent: Option<f64>,
    /// The arms.
    pub arms: Vec<ArmFacts>,
    /// For an experiment on running brokers, the number of brokers over which the rounds are spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_brokers: Option<u32>,
    /// Number of other arms between two runs of the baseline, which also ran first and last in a round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_every: Option<NonZeroUsize>,
    /// The axes of a sweep; empty for an experiment with arms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<SweepAxis>,
    /// The metrics; the first is the primary one.
    pub metrics: Vec<MetricFacts>,
    /// The runs in the order in which they were made.
    pub runs: Vec<RunOfArm>,
    /// Rounds that are left out of every comparison.
    pub dropped: Vec<DroppedRound>,
    /// Comparisons of every arm with the baseline in every metric.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of every arm's profiles with those of the baseline, if runs were profiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileComparison>,
    /// The latencies of every arm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<ArmLatency>,
    /// Published results, and whether they were met.
    pub known: Option<KnownResult>,
    /// The reason for an end before the last look; absent otherwise.
    pub aborted: Option<String>,
    /// The outcome in the primary metric, a sentence for each arm.
    pub sentences: Vec<String>,
}

/// The size of change for which further rounds are estimated if no `indifferent` was declared.
const USUAL_INTEREST: f64 = 0.03;

impl ExperimentResult {
    /// Returns the size of change that the experiment should be able to show, as a share.
    pub fn interest(&self) -> f64 {
        self.indifferent.unwrap_or(USUAL_INTEREST)
    }
}

/// One arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArmFacts {
    /// Name of the arm.
    pub name: String,
    /// The changes to the base scenario, a line for each key, such as `consumers.0.prefetch = 500`. Empty for a
    /// baseline, and for the control arm.
    pub changes: Vec<String>,
    /// The baseline a second time.
    #[serde(default)]
    pub control: bool,
    /// For a cell of a sweep, the index of its value on each axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cell: Vec<usize>,
    /// The broker of its latest run, such as `RabbitMQ 3.10.8 Erlang/OTP 25`.
    pub broker: String,
}

/// An axis of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SweepAxis {
    /// The key of the scenario, such as `consumers.0.prefetch`.
    pub key: String,
    /// The values, in TOML syntax.
    pub values: Vec<String>,
}

/// One metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MetricFacts {
    /// The name as in `[expect]`, such as `consumed.rate`, `confirm.p99`, `broker.cpu-per-message`.
    pub name: String,
    /// Unit of the values: `messages/s`, `nanoseconds`, `bytes`; empty for a count.
    pub unit: String,
    /// The direction that is better.
    pub goal: Goal,
    /// Primary or secondary.
    pub role: MetricRole,
}

/// The direction in which a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// More is better, for example for a rate.
    #[default]
    Higher,
    /// Less is better, for example for a latency.
    Lower,
}

/// The role of a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricRole {
    /// The metric that was declared beforehand to decide.
    #[default]
    Primary,
    /// Any other metric; its p-values are adjusted after Holm.
    Secondary,
}

/// One run of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunOfArm {
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// Index into [`ExperimentResult::arms`].
    pub arm: usize,
    /// The run directory, below that of the experiment.
    pub directory: String,
    /// The part of the run that counts, if arms take turns on a running broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    /// The code that replaced the broker's during this turn, if arms take turns. A separate run has it in its own
    /// record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patched: Vec<PatchedModule>,
    /// Start of the run in nanoseconds since 1970.
    pub started_unix_nanos: u64,
    /// The value of each metric; absent if the run has none.
    pub values: Vec<Option<f64>>,
    /// The reasons to doubt the figures, in words; empty if there are none.
    pub doubts: Vec<String>,
    /// The share of this machine's CPU time that the host took away, 0 to 1; absent if the kernel does not report it.
    pub stolen_share: Option<f64>,
    /// The share of this machine's CPU time that processes other than broker and load generator used, 0 to 1.
    pub foreign_share: Option<f64>,
    /// The warm-up that was left out, in nanoseconds: the longest of the round.
    pub warm_up_nanos: u64,
}

/// Seconds of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Slice {
    /// The first second that counts, from 0 at the start of the load.
    pub from_second: u32,
    /// Number of seconds that count.
    pub seconds: u32,
}

impl Slice {
    /// Returns whether the slice contains this second.
    pub fn has(self, second: u32) -> bool {
        (self.from_second..self.from_second + self.seconds).contains(&second)
    }
}

/// A round that is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DroppedRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// Index of the arm whose run is to blame.
    pub arm: usize,
    /// The reason, in words.
    pub reason: String,
}

/// A comparison of an arm with the baseline in a metric. Ratios are those of the arm to the baseline: 1.05 is 5 % more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// Index into [`ExperimentResult::arms`].
    pub arm: usize,
    /// Index into [`ExperimentResult::metrics`].
    pub metric: usize,
    /// The role of the comparison.
    pub role: ComparisonRole,
    /// The ratio of each round that counts.
    pub differences: Vec<Difference>,
    /// The Hodges–Lehmann estimate of the ratio; absent without rounds that count.
    pub ratio: Option<f64>,
    /// Lower bound of the ratio by the exact signed-rank test, at 1 − [`ExperimentResult::alpha`]. A bound is absent if
    /// there are too few rounds to set one.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// Two-sided p-value of the exact signed-rank test.
    pub p: Option<f64>,
    /// `p` after Holm's adjustment. The arms of the primary metric are adjusted together, and so are all other
    /// comparisons. Comparisons of the control stay as they are.
    pub adjusted_p: Option<f64>,
    /// The conclusion.
    pub verdict: Verdict,
    /// Number of rounds that show a change of the size of interest in 8 of 10 experiments. Assumes that further rounds
    /// scatter like the previous ones; absent when the comparison is decided.
    pub rounds_to_decide: Option<u32>,
    /// The conclusion in one sentence.
    pub sentence: String,
}

/// The role of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonRole {
    /// It decides.
    #[default]
    Primary,
    /// It explains.
    Secondary,
    /// The baseline against itself: the appearance of no difference.
    Control,
}

/// The ratio of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Difference {
    /// Number of the round, from 1.
    pub round: u32,
    /// Ratio of the arm to the baseline.
    pub ratio: f64,
}

/// The conclusion of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The arm differs from the baseline.
    Differs,
    /// The 90 % interval lies within the range of no interest.
    Equivalent,
    /// Neither can be concluded.
    #[default]
    Undecided,
}

/// Published results of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct KnownResult {
    /// The expectations as written: `patched / stock > 1`.
    pub expect: Vec<String>,
    /// The publication and its statement.
    pub source: String,
    /// The measured intervals meet the expectations; absent if they are inconclusive.
    pub met: Option<bool>,
    /// The reason, in words.
    pub sentence: String,
}
