//! Times of messages, and the start, warm-up and end of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The send times of each member of a group. Without a rate and without phases there is no schedule: a member sends as
/// soon as it may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Messages per second for each member.
    pub rate: Option<f64>,
    /// Distribution of the messages over time.
    pub arrival: Arrival,
    /// Consecutive rates and bursts, instead of `rate`; empty for none.
    pub phases: Vec<Phase>,
    /// Continuation after the last phase.
    pub after_phases: AfterPhases,
}

impl Schedule {
    /// Creates a schedule with a constant rate, in messages per second for each member.
    pub fn steady(rate: f64) -> Self {
        Self { rate: Some(rate), ..Self::default() }
    }

    /// Returns whether messages have due times.
    pub fn is_set(&self) -> bool {
        self.rate.is_some() || !self.phases.is_empty()
    }

    /// Returns whether the schedule comes to an end by itself.
    pub fn ends(&self) -> bool {
        !self.phases.is_empty() && self.after_phases == AfterPhases::Stop
    }
}

/// The distribution of the messages of a schedule over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Equal distances.
    #[default]
    Constant,
    /// Random and independent, with the same mean: a Poisson process.
    Poisson,
}

/// The treatment of a message that cannot be sent at its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatePolicy {
    /// Send it as soon as possible, so that no scheduled message is left out.
    #[default]
    Send,
    /// Leave it out and count it as dropped.
    Skip,
}

/// The continuation after the last phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterPhases {
    /// Continue the last phase: the rate at its end, or its bursts.
    #[default]
    Hold,
    /// Begin again with the first phase.
    Repeat,
    /// Stop: the member is done, as after its last message.
    Stop,
}

/// A part of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Length of the phase.
    pub length: Duration,
    /// Messages sent during the phase.
    pub demand: Demand,
}

/// The messages of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Messages per second, changing linearly from the beginning to the end of the phase. Both 0 for a pause.
    Rate {
        /// Rate at the beginning.
        from: f64,
        /// Rate at the end.
        to: f64,
    },
    /// Bursts of `messages` at once, the first at the beginning of the phase.
    Bursts {
        /// Messages of one burst.
        messages: u32,
        /// Time from one burst to the next.
        every: Duration,
    },
}

/// The part at the beginning that rates and latencies leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// A fixed time.
    Time(Duration),
    /// Until throughput is steady.
    Auto,
}

/// An end of the load besides time and message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every queue of the scenario is empty, at most this long after the publishers have stopped (or, without
    /// publishers, after the start).
    Empty(Duration),
    /// Nothing was published or delivered for this long.
    Idle(Duration),
}

/// The options of a run, besides its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario")]
pub struct RunOptions {
    /// The warm-up that rates and latencies leave out; absent for none.
    pub warm_up: Option<WarmUp>,
    /// Start of the load, as time since 1970-01-01 UTC; absent for as soon as possible.
    pub start_at: Option<Duration>,
    /// Every delivery is checked for loss, duplicates and order.
    pub verify: bool,
    /// Each publisher's messages whose number is a multiple of this are followed; absent for none.
    pub trace_every: Option<u64>,
    /// Time from one pass over sockets and schedules to the next; absent for a small part of the latency.
    pub step: Option<Duration>,
    /// A run that the load generator itself limits is not valid.
    pub self_check: bool,
    /// The run ends as soon as a limit of `[expect]` has failed for good.
    pub stop_on_failure: bool,
    /// End-to-end latencies are also recorded for each queue separately.
    pub latency_by_queue: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            warm_up: None,
            start_at: None,
            verify: false,
            trace_every: None,
            step: None,
            self_check: true,
            stop_on_failure: false,
            latency_by_queue: false,
        }
    }
}
