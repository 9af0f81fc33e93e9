//! `find-rate.json`: the highest load that a broker takes within given limits, and the steps that led to it.

use serde::{Deserialize, Serialize};

/// A search for the highest rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Capacity {
    /// Name of the scenario.
    pub name: String,
    /// The broker, as in `run.json`.
    pub broker: String,
    /// The limits that had to hold, such as `confirm-intended.p99 < 20ms`.
    pub limits: Vec<String>,
    /// The steps in the order in which they were made.
    pub steps: Vec<CapacityStep>,
    /// The outcome.
    pub outcome: CapacityOutcome,
    /// The rate in messages per second over all publishers: the limit if it was found, otherwise the highest rate that
    /// passed.
    pub rate: Option<f64>,
    /// The precision of `rate`; absent when the limit was never crossed.
    pub spread: Option<RateSpread>,
    /// The result of each of several searches that took turns; empty if there was only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchResult>,
    /// Number of steps that were not valid and say nothing about the broker.
    pub not_valid: usize,
    /// The outcome in one sentence.
    pub sentence: String,
}

/// The result of one of several searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SearchResult {
    /// The outcome.
    pub outcome: CapacityOutcome,
    /// The rate, with the meaning of [`Capacity::rate`].
    pub rate: Option<f64>,
}

/// The rates between which a step passed at one time and failed at another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RateSpread {
    /// The lowest rate that passed next to one that failed, minus the 1 % by which messages may pile up in a step that
    /// passes.
    pub low: f64,
    /// The highest rate that failed next to one that passed.
    pub high: f64,
    /// Number of crossings of the limit. A crossing is a pair of consecutive steps, no farther apart than the
    /// tolerance, whose lower rate passed and whose higher rate did not.
    pub crossings: usize,
    /// Distance from `low` to `high` as a share of the rate: 0.05 is 5 %.
    pub share: f64,
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityOutcome {
    /// The limit is known.
    Found,
    /// Even the highest allowed rate passed.
    Unlimited,
    /// Even the lowest allowed rate failed.
    Nothing,
    /// Beyond the highest rate that passed, the load generator itself is the limit.
    ClientLimited,
    /// The limit was not crossed often enough within the allowed number of steps.
    Unsettled,
    /// The search was cut short.
    #[default]
    Aborted,
}

/// One rate that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapacityStep {
    /// Messages per second that the schedules asked for, over all publishers.
    pub offered: f64,
    /// Messages per second that the broker accepted, or that entered confirm windows. In files of older versions, the
    /// messages that were written.
    pub achieved: f64,
    /// Length of the measurement in seconds; 0 in files of older versions that did not record it.
    #[serde(default)]
    pub seconds: f64,
    /// The latency of the quantiles, such as `confirm-intended`.
    pub latency: String,
    /// Median in nanoseconds; absent when nothing was measured.
    pub p50: Option<u64>,
    /// 99 % are below.
    pub p99: Option<u64>,
    /// 99.9 % are below.
    pub p999: Option<u64>,
    /// Growth of the backlog, unconfirmed or not consumed, in messages per second.
    pub backlog_growth: f64,
    /// The verdict.
    pub verdict: StepVerdict,
    /// The reasons why it did not pass, one sentence each.
    pub reasons: Vec<String>,
    /// Its run directory, relative to that of the search.
    pub directory: String,
}

/// The verdict on a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepVerdict {
    /// The broker takes this load within the limits.
    Passed,
    /// It does not.
    #[default]
    Failed,
    /// The load generator did not reach the load. The step says nothing about the broker.
    ClientLimited,
    /// A latency exceeded its limit because the load generator stood still. The step says nothing about the broker.
    Stalled,
    /// The step exceeded the limits while the host of the virtual machine took CPU time away. It says nothing about the
    /// broker.
    Disturbed,
    /// Messages may have piled up, or there was a hiccup. The step was repeated for longer.
    TooShort,
    /// The step ended before its time. It says nothing about the broker.
    CutShort,
}

impl StepVerdict {
    /// Returns whether the step says something about the broker.
    pub fn is_valid(self) -> bool {
        matches!(self, Self::Passed | Self::Failed)
    }
}
