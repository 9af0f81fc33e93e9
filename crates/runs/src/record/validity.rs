//! The validity of a run's figures, and the results of its expectations.

use serde::{Deserialize, Serialize};

/// A reason why the figures of a run say less than they seem to. A run with doubts is not valid: the program ends with
/// exit code 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Doubt {
    /// The kind of doubt.
    pub kind: DoubtKind,
    /// One sentence with the evidence.
    pub reason: String,
}

/// The kind of a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoubtKind {
    /// The load generator was the bottleneck, not the broker.
    ClientLimited,
    /// Throughput, latency or backlog were still moving.
    NotSteady,
    /// A process with a part of the load was silent for a while.
    WorkerLagging,
    /// A process with a part of the load was lost, so the load was not the one in the scenario.
    WorkerLost,
    /// A fault that the scenario asked for did not happen, or was not undone.
    FaultFailed,
}

/// The load generator's check of itself: the evidence for or against [`DoubtKind::ClientLimited`]. A thread-second is
/// one second of one load thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ClientCheck {
    /// Judged thread-seconds; parts of a second and the warm-up are excluded.
    pub thread_seconds: u64,
    /// Judged thread-seconds in which the thread had no time left. It ran or waited for a CPU almost all the time, and
    /// the broker did not hold it back.
    pub saturated_thread_seconds: u64,
    /// The busiest thread-second: CPU time as a share of real time, 0 to 1.
    pub busiest_share: f64,
    /// The thread-second with the highest demand: CPU time plus time spent waiting for a CPU, as a share.
    pub highest_demand: f64,
    /// Messages that a schedule asked for during the measured time.
    pub scheduled: u64,
    /// Scheduled messages that were late or dropped although window and socket had room: the thread itself came too
    /// late.
    pub late_by_client: u64,
    /// Share of the time in which the broker held publishers back (socket full, alarm, confirm window full, no credit), 0 to 1;
    /// only the largest of these kinds.
    pub held_back_share: f64,
    /// Share of the time in which the publishers' sockets were full or blocked by an alarm, 0 to 1.
    pub sockets_full_share: f64,
    /// Share of the time in which the publishers had messages to send but no credit of the broker for them, 0 to 1.
    pub without_credit_share: f64,
}

/// The result of one line of `[expect]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExpectationResult {
    /// `confirm.p99 < 20ms`
    pub text: String,
    /// The measured value, with its unit; absent if nothing was measured.
    pub measured: Option<String>,
    /// The measured value is as expected. A missing value fails.
    pub passed: bool,
}

/// Steadiness of the measured part of a run. Shares are parts of 1, so 0.05 is 5 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Steadiness {
    /// No trend was found.
    pub steady: bool,
    /// Number of examined seconds.
    pub seconds: u64,
    /// Change of throughput from the first to the last of these seconds, by the Theil–Sen line. It is a share of the
    /// line's start, or of the mean if the line starts at 0. Never below -1.
    pub throughput_drift: f64,
    /// The same change for the median latency.
    pub latency_drift: Option<f64>,
    /// Messages that came in and did not go out again, as a share of the incoming messages.
    pub backlog_growth: Option<f64>,
    /// The conclusion in one sentence.
    pub sentence: String,
}
