//! Which rate to try next, and where the limit is.
//!
//! Whether a step passes near the limit is chance, so that no single step may decide. The search is a
//! staircase in the manner of PEST (Taylor and Creelman, "PEST: Efficient Estimates on Probability
//! Functions", J. Acoust. Soc. Am. 41, 1967): up after a step that passed, down after one that failed.
//! It begins with factors of two; each change of direction halves the distance on a scale of ratios, until
//! it is the tolerance; three moves in the same direction double it again, so that a search that was
//! led astray by a hiccup comes back. The limit is the middle of the crossings: the rate at which a step is as likely to
//! pass as to fail.

use rabbitscope_runs::capacity::{CapacityOutcome, RateSpread, StepVerdict};

use super::judge::GROWTH;

/// Attempts at a rate whose steps are not valid, before the rate counts as out of the client's reach.
const MAX_ATTEMPTS: u32 = 3;

/// In a row at the end of the range, steps that end the search there. One may be a hiccup.
const ENOUGH_AT_AN_END: u32 = 2;

/// In this many moves in the same direction the limit has not been met: it is farther away.
const MOVES_UNTIL_FASTER: u32 = 3;

/// The factor of the first moves.
const FIRST_FACTOR: f64 = 2.0;

/// Steps of a search for each crossing that is asked for, and for the way to the first.
const STEPS_PER_CROSSING: usize = 8;
const STEPS_OF_THE_WAY: usize = 40;

/// Rates that may be tried, messages a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The first.
    pub min: f64,
    /// The last.
    pub max: f64,
    /// Ratio between neighbouring rates at the end of the search, less 1.
    pub tolerance: f64,
    /// How often the limit has to be crossed between such rates.
    pub crossings: usize,
}

/// A search. Ask [`Search::next_rate`], try it, and tell [`Search::record`].
#[derive(Clone, Debug)]
pub struct Search {
    range: Range,
    rate: f64,
    /// Distance of the next move: a ratio's logarithm.
    distance: f64,
    /// Of the latest step that counted: its rate, and whether it passed.
    latest: Option<(f64, StepVerdict)>,
    /// Moves in the same direction, without a change.
    moves: u32,
    has_turned: bool,
    /// Steps in a row at an end of the range.
    at_the_end: u32,
    /// In a row, at this rate.
    not_valid: u32,
    /// A step at this rate was too short to tell.
    was_too_short: bool,
    steps: usize,
    /// Of the limit of the broker.
    crossings: Vec<LimitCrossing>,
    /// Of the limit of the client.
    client_crossings: Vec<LimitCrossing>,
    highest_passed: Option<f64>,
    outcome: Option<CapacityOutcome>,
}

/// Two steps, one after the other and a tolerance apart: the lower rate passed, the higher did not.
#[derive(Clone, Copy, Debug)]
struct LimitCrossing {
    passed: f64,
    above: f64,
}

impl LimitCrossing {
    /// What is known to be served at the rate that passed: messages may have piled up a little.
    fn served(&self) -> f64 {
        self.passed * (1.0 - GROWTH)
    }
}

impl Search {
    /// Nothing has been tried.
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

    /// The rate to try next; absent when the search is over.
    pub fn next_rate(&self) -> Option<f64> {
        self.outcome.is_none().then_some(self.rate)
    }

    /// The next step counts for where the limit is: the limit has been met, or there is no higher rate to try.
    pub fn is_near_limit(&self) -> bool {
        self.has_turned || self.rate >= self.range.max
    }

    /// The next step has to last [`CLEAR_STEP`](super::CLEAR_STEP): a shorter one at this rate did not tell.
    pub fn needs_clear_step(&self) -> bool {
        self.was_too_short
    }

    /// What became of the step at [`Search::next_rate`]. One that is not valid is repeated; only when
    /// this goes on the rate counts as too high for the client.
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

    /// A step, or several attempts at one, that counts.
    fn take(&mut self, verdict: StepVerdict) {
        let (rate, has_passed) = (self.rate, verdict == StepVerdict::Passed);
        if has_passed {
            self.highest_passed = Some(self.highest_passed.map_or(rate, |most| most.max(rate)));
        }
        let previous = self.latest.replace((rate, verdict));
        let turned = previous.is_some_and(|(_, it)| (it == StepVerdict::Passed) != has_passed);
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
        // Rates are whole numbers: a tolerance apart is not exact.
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

    /// The next rate in this direction: a whole number, another one if the range has any.
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

    /// What came out, if this was the last step.
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

    /// What came out, once there is no next rate.
    pub fn outcome(&self) -> CapacityOutcome {
        self.outcome.unwrap_or(CapacityOutcome::Aborted)
    }

    /// Where the limit is: the Hodges–Lehmann estimate of the crossings, each in the middle of its pair on a
    /// scale of ratios. Where the broker's limit was not met, the highest rate that passed, if there is one.
    pub fn rate(&self) -> Option<f64> {
        match self.outcome() {
            CapacityOutcome::Unlimited | CapacityOutcome::ClientLimited => self.highest_passed,
            _ => self.center().or(self.highest_passed),
        }
    }

    /// The median of the means of all pairs of crossings, those of a crossing with itself included. The median
    /// of the crossings themselves could only be one of the rates that were tried.
    fn center(&self) -> Option<f64> {
        let middles: Vec<f64> =
            self.crossings.iter().map(|it| (it.served() * it.above).sqrt().ln()).collect();
        let pairs = middles.iter().enumerate();
        let mut means: Vec<f64> = pairs
            .flat_map(|(at, one)| middles[at..].iter().map(|other| f64::midpoint(*one, *other)))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let (lower, upper) =
            (means.get(means.len().saturating_sub(1) / 2)?, means.get(means.len() / 2)?);
        Some(f64::midpoint(*lower, *upper).exp().round())
    }

    /// All rates between which the broker's limit was crossed, the lowest without what may have piled up; absent when it
    /// never was.
    pub fn spread(&self) -> Option<RateSpread> {
        let crossings = &self.crossings;
        let low = crossings.iter().map(LimitCrossing::served).reduce(f64::min)?;
        let high = crossings.iter().map(|it| it.above).reduce(f64::max)?;
        let share = (high - low) / self.rate().unwrap_or(high);
        Some(RateSpread { low, high, crossings: crossings.len(), share })
    }
}
