//! The design of an experiment, its defaults and its limits.

use std::{num::NonZeroUsize, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use crate::scenario::{Problem, refuse, time};

/// Minimum number of rounds with which the test can call anything significant at 5 %.
const MIN_ROUNDS: u32 = 6;

/// Default number of rounds: ±3 % on a shared machine.
const USUAL_ROUNDS: u32 = 20;

/// Maximum number of rounds: weeks.
const MAX_ROUNDS: u32 = 10_000;

/// Share of the machine's CPU time taken by the host above which a run says little about the broker. Chosen.
const MAX_STOLEN: f64 = 0.05;

/// Share of CPU time used by other processes above which a run is in doubt. Chosen: the random order of runs must
/// make up for smaller shares, and a build beside an experiment takes more.
const MAX_OTHERS: f64 = 0.1;

/// Number of rounds, and the looks at the result.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Design {
    /// Maximum number of rounds that count.
    pub rounds: u32,
    /// Numbers of counted rounds after which the experiment ends if it is decided, ascending; the last is `rounds`.
    pub looks: Vec<u32>,
    /// Changes below this share are of no interest.
    #[serde(deserialize_with = "some_share")]
    pub indifferent: Option<f64>,
    /// The baseline is also compared with itself; absent for the default, which is true unless there is a sweep.
    pub control: Option<bool>,
    /// The host's share of the machine's CPU time above which a run is in doubt.
    #[serde(deserialize_with = "share")]
    pub max_stolen: f64,
    /// Arms take turns on a running broker in place of a run for each.
    pub live: Option<LiveDesign>,
    /// A search for the highest rate in place of each run.
    pub capacity: Option<CapacityDesign>,
    /// The share of CPU time used by processes other than broker and load generator above which a run is in doubt.
    #[serde(deserialize_with = "share")]
    pub max_others: f64,
    /// Number of other arms between two runs of the baseline, which also runs first and last in a round.
    #[serde(rename = "anchor", deserialize_with = "anchor")]
    pub anchor_every: Option<NonZeroUsize>,
}

/// A search for the highest rate within limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CapacityDesign {
    /// The limits that must hold, such as `confirm.p99 < 20ms`.
    pub limits: Vec<String>,
    /// The first rate to try, in messages per second over all publishers.
    pub min: f64,
    /// The last rate to try.
    pub max: f64,
    /// Length of the measurement of each rate.
    #[serde(deserialize_with = "time::deserialize")]
    pub step: Duration,
    /// Length of the load at each rate before the measurement.
    #[serde(deserialize_with = "time::deserialize")]
    pub warm_up: Duration,
    /// The required number of crossings of the limit.
    pub crossings: usize,
}

/// Arms that differ only in code that can be switched in a running broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LiveDesign {
    /// Length of an arm's turn on the broker in seconds. The first second of a turn is left out.
    #[serde(rename = "slice", deserialize_with = "slice")]
    pub slice_seconds: u32,
    /// The number of brokers over which the rounds are spread: each has its own luck with the layout of memory.
    pub brokers: u32,
}

impl Design {
    /// Creates a design of `rounds` rounds with one look, at the end.
    pub fn of_rounds(rounds: u32) -> Self {
        Self {
            rounds,
            looks: vec![rounds],
            indifferent: None,
            control: None,
            live: None,
            capacity: None,
            anchor_every: None,
            max_stolen: MAX_STOLEN,
            max_others: MAX_OTHERS,
        }
    }

    /// Returns the maximum number of rounds made, including replacements of rounds that do not count.
    pub fn max_rounds_made(&self) -> u32 {
        self.rounds + self.rounds.div_ceil(2)
    }

    /// Parses a share such as `3%`. The error states the allowed values.
    pub fn share(text: &str) -> Result<f64, String> {
        let percent =
            text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
        let reason = "must be a share above 0 and below 100, such as \"3%\"";
        percent.map(|percent| percent / 100.0).ok_or_else(|| reason.to_owned())
    }

    /// Checks values that depend on each other, and fills in the looks.
    pub(super) fn check(&mut self) -> Result<(), Problem> {
        let rounds = self.rounds;
        if !(MIN_ROUNDS..=MAX_ROUNDS).contains(&rounds) {
            let reason = format!(
                "must be {MIN_ROUNDS} to {MAX_ROUNDS}: with fewer than {MIN_ROUNDS} no difference can be shown"
            );
            return refuse("rounds", reason);
        }
        if self.looks.is_empty() {
            self.looks = vec![rounds];
        }
        let looks = &self.looks;
        let is_ascending = looks.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ascending || looks.first() < Some(&MIN_ROUNDS) || looks.last() != Some(&rounds) {
            let reason =
                format!("must ascend from {MIN_ROUNDS} or more to `rounds`, which is {rounds}");
            return refuse("looks", reason);
        }
        if let Some(live) = self.live {
            self.fits_turns()?;
            live.check().map_err(|problem| problem.under("live"))?;
        }
        let capacity = self.capacity.iter().try_for_each(CapacityDesign::check);
        capacity.map_err(|problem| problem.under("capacity"))
    }

    /// Refuses what cannot stand beside `live`.
    fn fits_turns(&self) -> Result<(), Problem> {
        if self.capacity.is_some() {
            return refuse(
                "live",
                "cannot stand beside `capacity`: a search varies the load of a whole run",
            );
        }
        if self.looks.len() > 1 {
            return refuse(
                "looks",
                "cannot be several beside `live`: rounds on one broker are made together",
            );
        }
        if self.anchor_every.is_some() {
            return refuse("anchor", "cannot stand beside `live`: turns are too short to drift");
        }
        Ok(())
    }
}

/// The looks follow from the rounds; see [`Design::check`].
impl Default for Design {
    fn default() -> Self {
        Self { looks: Vec::new(), ..Self::of_rounds(USUAL_ROUNDS) }
    }
}

impl CapacityDesign {
    /// Creates a search within these limits, with short steps and few crossings because rounds repeat the search.
    pub fn within(limits: Vec<String>) -> Self {
        Self {
            limits,
            min: 1000.0,
            max: 1e6,
            step: Duration::from_secs(5),
            warm_up: Duration::from_secs(1),
            crossings: 3,
        }
    }

    fn check(&self) -> Result<(), Problem> {
        if self.limits.is_empty() {
            return refuse("limits", "must list limits, such as [\"confirm.p99 < 20ms\"]");
        }
        if !(self.min >= 1.0 && self.max > self.min && self.max <= 1e7) {
            return refuse("min", "must be 1 or more, and `max` above it, 10000000 at most");
        }
        if self.step < Duration::from_secs(3) {
            return refuse("step", "must be 3s or longer, to see whether messages pile up");
        }
        if !(1..=100).contains(&self.crossings) {
            return refuse("crossings", "must be 1 to 100");
        }
        Ok(())
    }
}

impl Default for CapacityDesign {
    fn default() -> Self {
        Self::within(Vec::new())
    }
}

impl LiveDesign {
    /// Returns the rounds that are made on the same broker as `round`, out of `rounds` requested rounds. Rounds beyond
    /// these replace those that do not count.
    pub fn rounds_with(self, round: u32, rounds: u32) -> std::ops::RangeInclusive<u32> {
        let each = rounds.div_ceil(self.brokers).max(1);
        let first = (round - 1) / each * each + 1;
        first..=first + each - 1
    }

    fn check(self) -> Result<(), Problem> {
        if (1..=1000).contains(&self.brokers) {
            Ok(())
        } else {
            refuse("brokers", "must be 1 to 1000")
        }
    }
}

/// Turns of 5 seconds on three brokers.
impl Default for LiveDesign {
    fn default() -> Self {
        Self { slice_seconds: 5, brokers: 3 }
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Design::share(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn some_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    share(deserializer).map(Some)
}

fn anchor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroUsize>, D::Error> {
    let every = NonZeroUsize::new(usize::deserialize(deserializer)?);
    let reason = "must be 1 or more runs from one anchor to the next";
    every.map(Some).ok_or_else(|| D::Error::custom(reason))
}

fn slice<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let slice: Duration = time::deserialize(deserializer)?;
    let seconds = u32::try_from(slice.as_secs()).unwrap_or(u32::MAX);
    if slice.subsec_nanos() != 0 || !(2..=600).contains(&seconds) {
        return Err(D::Error::custom("must be whole seconds, 2 to 600: the first is left out"));
    }
    Ok(seconds)
}
