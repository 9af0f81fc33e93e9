//! When messages are sent, and when a run begins, counts and ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// When each member of a group sends. Without a rate and without phases there is no schedule: it sends as
/// soon as it may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Messages a second for each member.
    pub rate: Option<f64>,
    /// How messages follow one another.
    pub arrival: Arrival,
    /// Rates and bursts one after the other, instead of `rate`; empty: none.
    pub phases: Vec<Phase>,
    /// What follows the last phase.
    pub after_phases: AfterPhases,
}

impl Schedule {
    /// A constant rate, in messages a second for each member.
    pub fn steady(rate: f64) -> Self {
        Self { rate: Some(rate), ..Self::default() }
    }

    /// Messages have times at which they are due.
    pub fn is_set(&self) -> bool {
        self.rate.is_some() || !self.phases.is_empty()
    }

    /// It comes to an end by itself.
    pub fn ends(&self) -> bool {
        !self.phases.is_empty() && self.after_phases == AfterPhases::Stop
    }
}

/// How the messages of a schedule follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// At equal distances.
    #[default]
    Constant,
    /// At random, independent of each other, with the same mean: a Poisson process.
    Poisson,
}

/// What becomes of a message that cannot be sent at its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatePolicy {
    /// It is sent as soon as that is possible: nothing that was asked for is left out.
    #[default]
    Send,
    /// It is left out and counted as dropped.
    Skip,
}

/// What follows the last phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterPhases {
    /// The last phase goes on: the rate at its end, or its bursts.
    #[default]
    Hold,
    /// The first phase again.
    Repeat,
    /// Nothing: the member is done, as after its last message.
    Stop,
}

/// A part of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// How long it lasts.
    pub length: Duration,
    /// What is sent meanwhile.
    pub demand: Demand,
}

/// What is sent during a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Messages a second, which change evenly from the beginning to the end of the phase. Both 0: a
    /// pause.
    Rate {
        /// At the beginning.
        from: f64,
        /// At the end.
        to: f64,
    },
    /// So many messages at once, again and again, the first at the beginning.
    Bursts {
        /// Messages of one burst.
        messages: u32,
        /// From one burst to the next.
        every: Duration,
    },
}

/// What is left out of rates and latencies at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// So long.
    Time(Duration),
    /// Until throughput is steady.
    Auto,
}

/// An end of the load besides time and message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every queue of the scenario is empty, within so long after the publishers have stopped (or,
    /// without publishers, after the start).
    Empty(Duration),
    /// Nothing was published or delivered for so long.
    Idle(Duration),
}

/// How a run is carried out, besides its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario")]
pub struct RunOptions {
    /// What is left out of rates and latencies; absent: nothing.
    pub warm_up: Option<WarmUp>,
    /// When the load begins, as time since 1970-01-01 UTC; absent: as soon as possible.
    pub start_at: Option<Duration>,
    /// Every delivery is checked for loss, duplicates and order.
    pub verify: bool,
    /// Every message of a publisher whose number is a multiple of this is followed; absent: none.
    pub trace_every: Option<u64>,
    /// From one pass over sockets and schedules to the next; absent: a small part of the latency.
    pub step: Option<Duration>,
    /// A run that the load generator itself limits is not valid.
    pub self_check: bool,
    /// The run ends as soon as a limit of `[expect]` has failed for good.
    pub stop_on_failure: bool,
    /// End-to-end latencies are kept apart for each queue, too.
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
