//! `find-rate.json`: which load a broker takes within given limits, and how that was found.

use serde::{Deserialize, Serialize};

/// A search for the highest rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Capacity {
    /// Name of the scenario.
    pub name: String,
    /// The broker, as in `run.json`.
    pub broker: String,
    /// What had to hold, such as `confirm-intended.p99 < 20ms`.
    pub limits: Vec<String>,
    /// The steps in the order in which they were made.
    pub steps: Vec<CapacityStep>,
    /// What came out.
    pub outcome: CapacityOutcome,
    /// The rate in messages a second over all publishers: where the limit is when it was found, otherwise
    /// the highest that passed.
    pub rate: Option<f64>,
    /// How well `rate` is known; absent when the limit was never crossed.
    pub spread: Option<RateSpread>,
    /// What each of several searches found that took turns; none when there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchResult>,
    /// Steps that were not valid and say nothing of the broker.
    pub not_valid: usize,
    /// What came out, in one sentence.
    pub sentence: String,
}

/// What one of several searches found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SearchResult {
    /// What came out.
    pub outcome: CapacityOutcome,
    /// As [`Capacity::rate`].
    pub rate: Option<f64>,
}

/// Between which rates a step passed at one time and failed at another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RateSpread {
    /// The lowest rate that passed next to one that failed, less the 1 % by which messages may pile up in a step
    /// that passes.
    pub low: f64,
    /// The highest rate that failed next to one that passed.
    pub high: f64,
    /// How often the limit was crossed: pairs of steps, one after the other and no farther apart than the
    /// tolerance, of which the lower passed and the higher did not.
    pub crossings: usize,
    /// `high` above `low`, as a share of the rate: 0.05 is 5 %.
    pub share: f64,
}

/// What came out of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityOutcome {
    /// The limit is known.
    Found,
    /// Even the highest rate that was to be tried passed.
    Unlimited,
    /// Even the lowest rate that was to be tried failed.
    Nothing,
    /// Beyond the highest rate that passed, the load generator itself is the limit.
    ClientLimited,
    /// The limit was not crossed often enough within the steps that a search may take.
    Unsettled,
    /// Cut short.
    #[default]
    Aborted,
}

/// One rate that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapacityStep {
    /// Messages a second that the schedules asked for, over all publishers.
    pub offered: f64,
    /// Messages a second that the broker accepted, or that came into confirm windows; in files of older versions those
    /// that were written.
    pub achieved: f64,
    /// How long it was measured, in seconds; 0 where an older version did not say.
    #[serde(default)]
    pub seconds: f64,
    /// Which latency the quantiles are of, such as `confirm-intended`.
    pub latency: String,
    /// Median in nanoseconds; absent when nothing was measured.
    pub p50: Option<u64>,
    /// 99 % are below.
    pub p99: Option<u64>,
    /// 99.9 % are below.
    pub p999: Option<u64>,
    /// How fast messages piled up, unconfirmed or not consumed, messages a second.
    pub backlog_growth: f64,
    /// How the step was judged.
    pub verdict: StepVerdict,
    /// Why it did not pass, one sentence each.
    pub reasons: Vec<String>,
    /// Its run directory, relative to that of the search.
    pub directory: String,
}

/// How a step was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepVerdict {
    /// The broker takes this load within the limits.
    Passed,
    /// It does not.
    #[default]
    Failed,
    /// The load generator did not reach it: nothing is known of the broker.
    ClientLimited,
    /// A latency was over its limit because the load generator stood still: nothing is known of the
    /// broker.
    Stalled,
    /// It was not within the limits while the host of the virtual machine took CPU time away: nothing is known of
    /// the broker.
    Disturbed,
    /// Messages may have piled up, or it was a hiccup: the step was repeated for longer.
    TooShort,
    /// The step ended before its time: nothing is known of the broker.
    CutShort,
}

impl StepVerdict {
    /// It says something of the broker.
    pub fn is_valid(self) -> bool {
        matches!(self, Self::Passed | Self::Failed)
    }
}
