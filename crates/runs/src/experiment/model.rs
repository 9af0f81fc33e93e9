//! The requested experiment.

use std::{num::NonZeroUsize, time::Duration};

use super::{KnownExpectation, RunMetric, SweepAxis};

/// The compared arms and figures, and the number of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name in the result and in the directory's name.
    pub name: String,
    /// The question of the experiment, in words.
    pub description: String,
    /// Seed of the random order of runs.
    pub seed: u64,
    /// The scenario that all arms start from: a path as written in the file.
    pub base: String,
    /// The compared figures; the first is the primary one.
    pub metrics: Vec<RunMetric>,
    /// Number of rounds, looks and other choices of the design.
    pub design: Design,
    /// The arms, the baseline first; for a sweep, its cells. The control, if there is one, is the last.
    pub arms: Vec<Arm>,
    /// The axes of a sweep; empty for an experiment with arms.
    pub axes: Vec<SweepAxis>,
    /// Published results to compare with.
    pub known: Option<Known>,
}

/// Share of the machine's CPU time taken by the host above which a run says little about the broker. Chosen.
const MAX_STOLEN: f64 = 0.05;

/// Share of CPU time used by other processes above which a run is in doubt. Chosen: the random order of runs must
/// make up for smaller shares, and a build beside an experiment takes more.
const MAX_OTHERS: f64 = 0.1;

/// Number of rounds, and the looks at the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Maximum number of rounds that count.
    pub rounds: u32,
    /// Numbers of counted rounds after which the experiment ends if it is decided, ascending; the last is `rounds`.
    pub looks: Vec<u32>,
    /// Changes below this share are of no interest.
    pub indifferent: Option<f64>,
    /// A search for the highest rate in place of each run.
    pub capacity: Option<CapacityDesign>,
    /// The host's share of the machine's CPU time above which a run is in doubt.
    pub max_stolen: f64,
    /// Arms take turns on a running broker in place of a run for each.
    pub live: Option<LiveDesign>,
    /// Number of other arms between two runs of the baseline, which also runs first and last in a round.
    pub anchor_every: Option<NonZeroUsize>,
    /// The share of CPU time used by processes other than broker and load generator above which a run is in doubt.
    pub max_others: f64,
}

impl Design {
    /// Creates a design of `rounds` rounds with one look, at the end.
    pub fn of_rounds(rounds: u32) -> Self {
        Self {
            rounds,
            looks: vec![rounds],
            indifferent: None,
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
}

/// A search for the highest rate within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityDesign {
    /// The limits that must hold, such as `confirm.p99 < 20ms`.
    pub limits: Vec<String>,
    /// The first rate to try, in messages per second over all publishers.
    pub min: f64,
    /// The last rate to try.
    pub max: f64,
    /// Length of the measurement of each rate.
    pub step: Duration,
    /// Length of the load at each rate before the measurement.
    pub warm_up: Duration,
    /// The required number of crossings of the limit.
    pub crossings: usize,
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
}

/// Arms that differ only in code that can be switched in a running broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveDesign {
    /// Length of an arm's turn on the broker in seconds. The first second of a turn is left out.
    pub slice_seconds: u32,
    /// The number of brokers over which the rounds are spread: each has its own luck with the layout of memory.
    pub brokers: u32,
}

impl LiveDesign {
    /// Returns the rounds that are made on the same broker as `round`, out of `rounds` requested rounds. Rounds beyond
    /// these replace those that do not count.
    pub fn rounds_with(self, round: u32, rounds: u32) -> std::ops::RangeInclusive<u32> {
        let each = rounds.div_ceil(self.brokers).max(1);
        let first = (round - 1) / each * each + 1;
        first..=first + each - 1
    }
}

/// One arm: the base scenario with changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// A scenario in place of the base: a path as written in the file.
    pub scenario: Option<String>,
    /// Overrides `key=value`, in the syntax of `--set`.
    pub overrides: Vec<String>,
    /// Keys of the scenario that name files, with the paths as written, relative to the experiment file.
    pub files: Vec<(&'static str, Vec<String>)>,
    /// The baseline a second time.
    pub control: bool,
    /// For a cell of a sweep, the index of its value on each axis.
    pub cell: Vec<usize>,
}

/// Published results.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The expectations for this experiment.
    pub expect: Vec<KnownExpectation>,
    /// The publication and its statement.
    pub source: String,
}
