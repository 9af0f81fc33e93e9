//! The next rate to try, and the estimate of the limit.
//!
//! Near the limit, chance decides whether a step passes, so no single step may decide. The search is a staircase in the
//! manner of PEST (Taylor and Creelman, "PEST: Efficient Estimates on Probability Functions", J. Acoust. Soc. Am. 41,
//! 1967): up after a step that passed, down after one that failed. It begins with factors of two. Each change of
//! direction halves the distance on a logarithmic scale, down to the tolerance. Three moves in the same direction
//! double it again, so that a search that a hiccup led astray comes back. The limit is the middle of the crossings: the
//! rate at which a step is as likely to pass as to fail.

use rabbitscope_runs::capacity::{CapacityOutcome, RateSpread, StepVerdict};

use super::judge::GROWTH;

/// Attempts at a rate whose steps are not valid, before the rate counts as out of the client's reach.
const MAX_ATTEMPTS: u32 = 3;

/// Consecutive steps at the end of the range that end the search there. A single one may be a hiccup.
const ENOUGH_AT_AN_END: u32 = 2;

/// After this many moves in the same direction without meeting the limit, the limit is farther away.
const MOVES_UNTIL_FASTER: u32 = 3;

/// The factor of the first moves.
const FIRST_FACTOR: f64 = 2.0;

/// Steps of a search per requested crossing, and steps for the way to the first crossing.
const STEPS_PER_CROSSING: usize = 8;
const STEPS_OF_THE_WAY: usize = 40;

/// Rates that may be tried, in messages per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The first rate.
    pub min: f64,
    /// The last rate.
    pub max: f64,
    /// Ratio between neighbouring rates at the end of the search, minus 1.
    pub tolerance: f64,
    /// The required number of crossings of the limit between such rates.
    pub crossings: usize,
}

/// A search. Ask [`Search::next_rate`], try the rate, and report to [`Search::record`].
#[derive(Clone, Debug)]
pub struct Search {
    range: Range,
    rate: f64,
    /// Distance of the next move, as the logarithm of a ratio.
    distance: f64,
    /// Rate and verdict of the latest step that counted.
    latest: Option<(f64, StepVerdict)>,
    /// Moves in the same direction, without a change.
    moves: u32,
    has_turned: bool,
    /// Consecutive steps at an end of the range.
    at_the_end: u32,
    /// Consecutive steps at this rate that were not valid.
    not_valid: u32,
    /// A step at this rate was too short to tell.
    was_too_short: bool,
    steps: usize,
    /// Crossings of the broker's limit.
    crossings: Vec<LimitCrossing>,
    /// Crossings of the client's limit.
    client_crossings: Vec<LimitCrossing>,
    highest_passed: Option<f64>,
    outcome: Option<CapacityOutcome>,
}

/// Two consecutive steps, a tolerance apart: the lower rate passed, the higher did not.
#[derive(Clone, Copy, Debug)]
struct LimitCrossing {
    passed: f64,
    above: f64,
}

impl LimitCrossing {
    /// Returns the rate that is certainly served at the rate that passed: messages may have piled up a little.
    fn served(&self) -> f64 {
        self.passed * (1.0 - GROWTH)
    }
}

impl Search {
    /// Creates a search that has tried nothing.
    pub fn new(range: Range) -> Self {
        Self {
            range,
            rate: range.min,
            distance: FIRST_FACTOR.ln(),
            latest: None,
            moves: 0,
            has_turned: false,
            at_the_end: 0,
            not_valid: 0,
            was_too_short: false,
            steps: 0,
            crossings: Vec::new(),
            client_crossings: Vec::new(),
            highest_passed: None,
            outcome: None,
        }
    }

    /// Returns the rate to try next; absent when the search is over.
    pub fn next_rate(&self) -> Option<f64> {
        self.outcome.is_none().then_some(self.rate)
    }

    /// Returns whether the next step helps to locate the limit: the limit has been met, or there is no higher rate to
    /// try.
    pub fn is_near_limit(&self) -> bool {
        self.has_turned || self.rate >= self.range.max
    }

    /// Returns whether the next step must last [`CLEAR_STEP`](super::CLEAR_STEP), because a shorter one was
    /// inconclusive.
    pub fn needs_clear_step(&self) -> bool {
        self.was_too_short
    }

    /// Records the verdict of the step at [`Search::next_rate`]. A step that is not valid is repeated. After several
    /// invalid attempts the rate counts as too high for the client.
    pub fn record(&mut self, verdict: StepVerdict) {
        if verdict == StepVerdict::TooShort && !self.was_too_short {
            self.was_too_short = true;
            return;
        }
        self.steps += 1;
        if !verdict.is_valid() {
            self.not_valid += 1;
        }
        if verdict.is_valid() || self.not_valid >= MAX_ATTEMPTS {
            (self.not_valid, self.was_too_short) = (0, false);
            self.take(verdict);
        }
        let most = STEPS_OF_THE_WAY + STEPS_PER_CROSSING * self.range.crossings;
        if self.outcome.is_none() && self.steps >= most {
            self.outcome = Some(CapacityOutcome::Unsettled);
        }
    }

    /// Takes account of a step, or of several attempts at one, that counts.
    fn take(&mut self, verdict: StepVerdict) {
        let (rate, has_passed) = (self.rate, verdict == StepVerdict::Passed);
        if has_passed {
            self.highest_passed = Some(self.highest_passed.map_or(rate, |most| most.max(rate)));
        }
        let previous = self.latest.replace((rate, verdict));
        let turned =
            previous.is_some_and(|(_, verdict)| (verdict == StepVerdict::Passed) != has_passed);
        if turned {
            self.note_crossing(previous, (rate, verdict));
        }
        self.adapt_distance(turned);
        self.rate = self.moved(has_passed);
        let is_stuck = (self.rate - rate).abs() < f64::EPSILON;
        self.at_the_end =
            if is_stuck && !turned { self.at_the_end + 1 } else { u32::from(is_stuck) };
        self.outcome = self.ending(verdict);
    }

    fn note_crossing(&mut self, previous: Option<(f64, StepVerdict)>, latest: (f64, StepVerdict)) {
        let Some(previous) = previous else { return };
        let (passed, above) =
            if latest.1 == StepVerdict::Passed { (latest, previous) } else { (previous, latest) };
        // Rates are whole numbers, so a tolerance apart is not exact.
        let is_near = above.0 <= passed.0 * (1.0 + self.range.tolerance) + 1.0;
        if is_near {
            let is_of_broker = above.1.is_valid();
            let list = if is_of_broker { &mut self.crossings } else { &mut self.client_crossings };
            list.push(LimitCrossing { passed: passed.0, above: above.0 });
        }
    }

    fn adapt_distance(&mut self, turned: bool) {
        let least = (1.0 + self.range.tolerance).ln();
        self.moves = if turned { 1 } else { self.moves + 1 };
        self.has_turned |= turned;
        if turned {
            self.distance = (self.distance / 2.0).max(least);
        } else if self.has_turned && self.moves >= MOVES_UNTIL_FASTER {
            self.distance = (2.0 * self.distance).min(FIRST_FACTOR.ln());
        }
    }

    /// Returns the next rate in this direction: a different whole number, if the range has any.
    fn moved(&self, up: bool) -> f64 {
        let Range { min, max, .. } = self.range;
        let factor = self.distance.exp();
        let next = if up {
            (self.rate * factor).round().max(self.rate + 1.0)
        } else {
            (self.rate / factor).round().min(self.rate - 1.0)
        };
        next.clamp(min, max)
    }

    /// Returns the outcome if this was the last step.
    fn ending(&self, verdict: StepVerdict) -> Option<CapacityOutcome> {
        if self.crossings.len() >= self.range.crossings {
            return Some(CapacityOutcome::Found);
        }
        if self.client_crossings.len() >= self.range.crossings {
            return Some(CapacityOutcome::ClientLimited);
        }
        let is_at_an_end = self.at_the_end >= ENOUGH_AT_AN_END;
        is_at_an_end.then_some(match verdict {
            StepVerdict::Passed => CapacityOutcome::Unlimited,
            StepVerdict::Failed => CapacityOutcome::Nothing,
            _ => CapacityOutcome::ClientLimited,
        })
    }

    /// Returns the outcome once there is no next rate.
    pub fn outcome(&self) -> CapacityOutcome {
        self.outcome.unwrap_or(CapacityOutcome::Aborted)
    }

    /// Returns the limit: the Hodges–Lehmann estimate of the crossings, each in the middle of its pair on a logarithmic
    /// scale. If the broker's limit was not met, returns the highest rate that passed, if there is one.
    pub fn rate(&self) -> Option<f64> {
        match self.outcome() {
            CapacityOutcome::Unlimited | CapacityOutcome::ClientLimited => self.highest_passed,
            _ => self.center().or(self.highest_passed),
        }
    }

    /// Returns the median of the means of all pairs of crossings, including each crossing paired with itself. The
    /// median of the crossings themselves could only be one of the rates that were tried.
    fn center(&self) -> Option<f64> {
        let middles: Vec<f64> = self
            .crossings
            .iter()
            .map(|crossing| (crossing.served() * crossing.above).sqrt().ln())
            .collect();
        let pairs = middles.iter().enumerate();
        let mut means: Vec<f64> = pairs
            .flat_map(|(index, one)| {
                middles[index..].iter().map(|other| f64::midpoint(*one, *other))
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let (lower, upper) =
            (means.get(means.len().saturating_sub(1) / 2)?, means.get(means.len() / 2)?);
        Some(f64::midpoint(*lower, *upper).exp().round())
    }

    /// Returns the range of rates between which the broker's limit was crossed. The lowest rate excludes what may have
    /// piled up. Absent if the limit was never crossed.
    pub fn spread(&self) -> Option<RateSpread> {
        let crossings = &self.crossings;
        let low = crossings.iter().map(LimitCrossing::served).reduce(f64::min)?;
        let high = crossings.iter().map(|crossing| crossing.above).reduce(f64::max)?;
        let share = (high - low) / self.rate().unwrap_or(high);
        Some(RateSpread { low, high, crossings: crossings.len(), share })
    }
}
