//! An experiment as it is asked for.

use std::{num::NonZeroUsize, time::Duration};

use super::{KnownExpectation, RunMetric, SweepAxis};

/// What is compared with what, how often, and in which figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name in the result and in the directory's name.
    pub name: String,
    /// What it asks, in words.
    pub description: String,
    /// Draws the order of runs.
    pub seed: u64,
    /// The scenario that all arms start from: a path, as it is written.
    pub base: String,
    /// The figures that are compared; the first is the primary one.
    pub metrics: Vec<RunMetric>,
    /// How often.
    pub design: Design,
    /// The arms, the baseline first; of a sweep its cells. The control, if there is one, is the last.
    pub arms: Vec<Arm>,
    /// What a sweep varies; empty for an experiment with arms.
    pub axes: Vec<SweepAxis>,
    /// What is known of it.
    pub known: Option<Known>,
}

/// The host took so much of the machine's CPU time that a run says little of the broker. Chosen.
const MAX_STOLEN: f64 = 0.05;

/// Others used so much of it. Chosen: it is what the order of runs, which is drawn, has to make up for, and a
/// build beside an experiment takes more.
const MAX_OTHERS: f64 = 0.1;

/// How often arms run, and when the result is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Rounds that count, at most.
    pub rounds: u32,
    /// Rounds that count after which the experiment ends if it is decided, ascending; the last is `rounds`.
    pub looks: Vec<u32>,
    /// Changes below this share are of no interest.
    pub indifferent: Option<f64>,
    /// A search for the highest rate in place of each run.
    pub capacity: Option<CapacityDesign>,
    /// A run during which the host took a larger share of the machine's CPU time is in doubt.
    pub max_stolen: f64,
    /// Arms take turns on a running broker in place of a run for each.
    pub live: Option<LiveDesign>,
    /// The baseline runs before the other arms of a round, after them, and in between after each so many.
    pub anchor_every: Option<NonZeroUsize>,
    /// A run during which others than broker and load generator used a larger share of it is in doubt.
    pub max_others: f64,
}

impl Design {
    /// So many rounds with one look, at the end.
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

    /// Rounds that are made at most, in place of those that do not count too.
    pub fn max_rounds_made(&self) -> u32 {
        self.rounds + self.rounds.div_ceil(2)
    }
}

/// A search for the highest rate within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityDesign {
    /// What has to hold, such as `confirm.p99 < 20ms`.
    pub limits: Vec<String>,
    /// The first rate to try, messages a second over all publishers.
    pub min: f64,
    /// The last.
    pub max: f64,
    /// How long each rate is measured.
    pub step: Duration,
    /// How long each rate is put on before that.
    pub warm_up: Duration,
    /// How often the limit has to be crossed.
    pub crossings: usize,
}

impl CapacityDesign {
    /// Within these limits, with short steps and few crossings: rounds repeat the search.
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
    /// How long an arm has the broker at a time, in seconds; the first of them is left out.
    pub slice_seconds: u32,
    /// Over how many brokers the rounds are spread: each has its own luck with the layout of memory.
    pub brokers: u32,
}

impl LiveDesign {
    /// The rounds that are made on the same broker as `round`, of `rounds` that are asked for. Rounds beyond these are
    /// in place of such as do not count.
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
    /// Another scenario in place of the base: a path, as it is written.
    pub scenario: Option<String>,
    /// `key=value`, as `--set` takes them.
    pub overrides: Vec<String>,
    /// Keys of the scenario that name files: paths as they are written, relative to the experiment file.
    pub files: Vec<(&'static str, Vec<String>)>,
    /// The baseline a second time.
    pub control: bool,
    /// Of a cell of a sweep, the index of its value on each axis.
    pub cell: Vec<usize>,
}

/// What is known from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// What is expected here.
    pub expect: Vec<KnownExpectation>,
    /// Where it was published, and what.
    pub source: String,
}
