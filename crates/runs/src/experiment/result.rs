//! `experiment.json`: every run of an experiment and what the runs say together.

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
    /// What it asks, in words.
    #[serde(default)]
    pub description: String,
    /// The seed of the order of runs.
    pub seed: u64,
    /// Rounds that were asked for at most; those that are left out do not count.
    pub rounds: u32,
    /// Rounds that count after which the result is looked at, in ascending order; the last is `rounds`.
    pub looks: Vec<u32>,
    /// Error rate of each look: 0.05 for one look, less for several, so that all together have 0.05.
    pub alpha: f64,
    /// Error rate of the interval that shows two arms to be the same: 0.1 for one look, less for several, so that all
    /// together call a change of just the size of `indifferent` the same in 5 % of the experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalence_alpha: Option<f64>,
    /// Changes below this share are of no interest, such as 0.03; absent when nothing was declared.
    pub indifferent: Option<f64>,
    /// The arms.
    pub arms: Vec<ArmFacts>,
    /// Of an experiment on running brokers: over how many of them the rounds are spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_brokers: Option<u32>,
    /// The baseline ran before the other arms of a round, after them, and in between after each so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_every: Option<NonZeroUsize>,
    /// What a sweep varies; empty for an experiment with arms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<SweepAxis>,
    /// The metrics; the first is the primary one.
    pub metrics: Vec<MetricFacts>,
    /// The runs in the order in which they were made.
    pub runs: Vec<RunOfArm>,
    /// Rounds that are left out of every comparison.
    pub dropped: Vec<DroppedRound>,
    /// Every arm against the baseline in every metric.
    pub comparisons: Vec<Comparison>,
    /// Every arm's profiles against those of the baseline, where runs were profiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileComparison>,
    /// The latencies of every arm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<ArmLatency>,
    /// What is known of it from elsewhere, and whether it was met.
    pub known: Option<KnownResult>,
    /// Why it ended before its last look; absent when it did not.
    pub aborted: Option<String>,
    /// What came out of the primary metric, a sentence for each arm.
    pub sentences: Vec<String>,
}

/// The change that further rounds are counted for where no `indifferent` was declared.
const USUAL_INTEREST: f64 = 0.03;

impl ExperimentResult {
    /// The change that one wants to be able to see, as a share.
    pub fn interest(&self) -> f64 {
        self.indifferent.unwrap_or(USUAL_INTEREST)
    }
}

/// One arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArmFacts {
    /// Its name.
    pub name: String,
    /// What it changes in the base scenario, a line for each key, such as `consumers.0.prefetch = 500`. Empty
    /// for a baseline, and for the control arm.
    pub changes: Vec<String>,
    /// The baseline a second time.
    #[serde(default)]
    pub control: bool,
    /// Of a cell of a sweep, the index of its value on each axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cell: Vec<usize>,
    /// The broker of its latest run, such as `RabbitMQ 3.10.8 Erlang/OTP 25`.
    pub broker: String,
}

/// What a sweep varies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SweepAxis {
    /// The key of the scenario, such as `consumers.0.prefetch`.
    pub key: String,
    /// Its values, as TOML has them.
    pub values: Vec<String>,
}

/// One metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MetricFacts {
    /// As in `[expect]`, such as `consumed.rate`, `confirm.p99`, `broker.cpu-per-message`.
    pub name: String,
    /// Unit of its values: `messages/s`, `nanoseconds`, `bytes`; empty for a count.
    pub unit: String,
    /// Which way is better.
    pub goal: Goal,
    /// Primary or secondary.
    pub role: MetricRole,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// More is better, as of a rate.
    #[default]
    Higher,
    /// Less is better, as of a latency.
    Lower,
}

/// What a metric is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricRole {
    /// Declared beforehand as what decides.
    #[default]
    Primary,
    /// Any other; its p-values are adjusted after Holm.
    Secondary,
}

/// One run of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunOfArm {
    /// From 1.
    pub round: u32,
    /// Place in the round, from 1.
    pub position: u32,
    /// Index into [`ExperimentResult::arms`].
    pub arm: usize,
    /// The run directory, below that of the experiment.
    pub directory: String,
    /// The part of the run that is meant, where arms take turns on a running broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    /// The code that its turn had in place of the broker's, where arms take turns; the record of a run of its own has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patched: Vec<PatchedModule>,
    /// When it began, in nanoseconds since 1970.
    pub started_unix_nanos: u64,
    /// The value of each metric; absent where the run has none.
    pub values: Vec<Option<f64>>,
    /// Why its figures may not be believed, in words; empty when nothing speaks against them.
    pub doubts: Vec<String>,
    /// The share of this machine's CPU time that the host took away, 0 to 1; absent where the kernel does not
    /// tell.
    pub stolen_share: Option<f64>,
    /// The share of this machine's CPU time that others than broker and load generator used, 0 to 1.
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
    /// How many count.
    pub seconds: u32,
}

impl Slice {
    /// Whether it has this second.
    pub fn has(self, second: u32) -> bool {
        (self.from_second..self.from_second + self.seconds).contains(&second)
    }
}

/// A round that is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DroppedRound {
    /// From 1.
    pub round: u32,
    /// Index of the arm whose run is to blame.
    pub arm: usize,
    /// Why, in words.
    pub reason: String,
}

/// An arm against the baseline in a metric. Ratios are those of the arm to the baseline: 1.05 is 5 % more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// Index into [`ExperimentResult::arms`].
    pub arm: usize,
    /// Index into [`ExperimentResult::metrics`].
    pub metric: usize,
    /// What it is for.
    pub role: ComparisonRole,
    /// The ratio of each round that counts.
    pub differences: Vec<Difference>,
    /// The Hodges–Lehmann estimate of the ratio; absent without rounds that count.
    pub ratio: Option<f64>,
    /// The interval of the ratio by the exact signed-rank test, at 1 − [`ExperimentResult::alpha`]. A bound is
    /// absent where so few rounds set none.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// Two-sided p-value of the exact signed-rank test.
    pub p: Option<f64>,
    /// `p` after Holm's adjustment: the arms of the primary metric together, and all other comparisons together;
    /// those of the control stay as they are.
    pub adjusted_p: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
    /// How many rounds show a change of the size of interest in 8 of 10 experiments, if the rounds to come scatter as
    /// those before; absent when it is decided.
    pub rounds_to_decide: Option<u32>,
    /// One sentence.
    pub sentence: String,
}

/// What a comparison is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonRole {
    /// It decides.
    #[default]
    Primary,
    /// It explains.
    Secondary,
    /// The baseline against itself: what a difference of nothing looks like here.
    Control,
}

/// The ratio of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Difference {
    /// From 1.
    pub round: u32,
    /// Of the arm to the baseline.
    pub ratio: f64,
}

/// What a comparison can say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The arm differs from the baseline.
    Differs,
    /// The 90 % interval lies within what is of no interest.
    Equivalent,
    /// Neither can be said.
    #[default]
    Undecided,
}

/// What is known of an experiment from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct KnownResult {
    /// What is expected, as written: `patched / stock > 1`.
    pub expect: Vec<String>,
    /// Where it was published, and what.
    pub source: String,
    /// Whether the measured intervals meet it; absent where they do not tell.
    pub met: Option<bool>,
    /// Why, in words.
    pub sentence: String,
}
