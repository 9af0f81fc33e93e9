//! May the figures of a run be believed, and did they meet what was expected?

use serde::{Deserialize, Serialize};

/// Why the figures of a run say less than they seem to. A run with doubts is not valid: the program
/// ends with exit code 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Doubt {
    /// What kind of doubt.
    pub kind: DoubtKind,
    /// One sentence with the evidence.
    pub reason: String,
}

/// What kind of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoubtKind {
    /// The load generator was the bottleneck, not the broker.
    ClientLimited,
    /// Throughput, latency or backlog were still moving.
    NotSteady,
    /// A process that put a part of the load on was not heard of for a while.
    WorkerLagging,
    /// A process that put a part of the load on was lost: the load was not what the scenario asks for.
    WorkerLost,
    /// A fault that the scenario asked for did not happen, or was not undone.
    FaultFailed,
}

/// What the load generator says of itself: the evidence for or against
/// [`DoubtKind::ClientLimited`]. A thread-second is one second of one load thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ClientCheck {
    /// Thread-seconds that were judged; parts of a second and the warm-up are not.
    pub thread_seconds: u64,
    /// Of those, the ones in which the thread had no time left: it ran, or waited for a CPU, almost
    /// all the time, and the broker did not hold it back.
    pub saturated_thread_seconds: u64,
    /// The busiest thread-second: CPU time as a share of real time, 0 to 1.
    pub busiest_share: f64,
    /// The thread-second that wanted most: CPU time and time spent waiting for a CPU, as a share.
    pub highest_demand: f64,
    /// Messages that a schedule asked for while the run was measured.
    pub scheduled: u64,
    /// Of those, late or dropped although window and socket had room: the thread itself came too late.
    pub late_by_client: u64,
    /// Share of the time in which publishers were held back by the broker (socket full, alarm,
    /// confirm window full), 0 to 1; of the kind that held most.
    pub held_back_share: f64,
    /// Share of the time in which the sockets of publishers were full, or an alarm blocked them, 0 to 1.
    pub sockets_full_share: f64,
}

/// One line of `[expect]` and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExpectationResult {
    /// `confirm.p99 < 20ms`
    pub text: String,
    /// What was measured, with its unit; absent when nothing was.
    pub measured: Option<String>,
    /// It is as expected. What was not measured is not.
    pub passed: bool,
}

/// Was the measured part of a run steady? Shares are parts of 1, so 0.05 is 5 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Steadiness {
    /// No trend was found.
    pub steady: bool,
    /// Seconds that were looked at.
    pub seconds: u64,
    /// How much throughput changed from the first to the last of them, by the line of Theil and Sen, as
    /// a share of where that line begins (of the mean, where it begins at 0). Never below -1.
    pub throughput_drift: f64,
    /// The same of the median latency.
    pub latency_drift: Option<f64>,
    /// Messages that came in and did not go out again, as a share of those that came in.
    pub backlog_growth: Option<f64>,
    /// One sentence.
    pub sentence: String,
}
