//! Times of messages.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::values::span;

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
    /// Creates a schedule from the keys of a group.
    pub(in crate::scenario) fn new(
        rate: Option<f64>,
        arrival: Option<Arrival>,
        phases: &[Phase],
        after_phases: Option<AfterPhases>,
    ) -> Self {
        let (arrival, after_phases) =
            (arrival.unwrap_or_default(), after_phases.unwrap_or_default());
        Self { rate, arrival, phases: phases.to_vec(), after_phases }
    }

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

/// A part of a schedule: rates, or bursts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Phase {
    /// Length of the phase.
    #[serde(rename = "for", with = "span")]
    pub length: Duration,
    /// Rate at the beginning.
    pub rate: Option<f64>,
    /// Rate at the end; absent for a constant rate until checks fill it in.
    pub to: Option<f64>,
    /// Messages of one burst.
    pub burst: Option<u32>,
    /// Time from one burst to the next.
    #[serde(default, with = "span")]
    pub every: Option<Duration>,
}

impl Phase {
    /// Returns the messages sent during the phase.
    pub fn demand(&self) -> Demand {
        if let (Some(messages), Some(every)) = (self.burst, self.every) {
            return Demand::Bursts { messages, every };
        }
        let from = self.rate.unwrap_or(0.0);
        Demand::Rate { from, to: self.to.unwrap_or(from) }
    }
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
