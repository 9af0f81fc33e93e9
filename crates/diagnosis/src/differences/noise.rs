//! The judgement of a change: the noise of counts where the figure comes from counts, and a threshold.

use rabbitscope_analysis::{Evidence, Sides};

use super::model::{Noise, Pair};

/// Largest count that the test takes. Larger ones are scaled down, which only widens the noise.
const MOST_COUNTS: f64 = 1e7;

/// Trials for each count, so that counts vary like those of rare, independent events.
const TRIALS: f64 = 1000.0;

/// Trials from which nothing is judged: one side was observed for so much longer that it is no observation.
const MOST_TRIALS: f64 = 1e15;

/// Tests the figures of two checks. Every test adds to the comparisons that share one rate of errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    comparisons: usize,
}

impl Judge {
    /// Creates a judge for a number of comparisons.
    pub(super) const fn new(comparisons: usize) -> Self {
        Self { comparisons }
    }

    /// Judges two rates. `exposures` are counts for each unit of the values: seconds for a rate a second.
    pub(super) fn counted(
        self,
        values: [f64; 2],
        exposures: [f64; 2],
        threshold: f64,
        least: f64,
    ) -> Option<Pair> {
        let is_beyond = exceeds(values, threshold, least) && self.is_beyond(values, exposures);
        is_beyond.then_some(Pair { values, noise: Noise::Beyond, threshold })
    }

    /// Judges two parts of samples. Returns `None` for samples of nothing.
    pub(super) fn share(self, parts: [u64; 2], samples: [u64; 2], threshold: f64) -> Option<Pair> {
        if samples.contains(&0) {
            return None;
        }
        let share = |side: usize| (parts[side] as f64 / samples[side] as f64).min(1.0);
        let values = [share(0), share(1)];
        let scale = scale(samples.map(|count| count as f64));
        let sides = |counts: [f64; 2]| Sides { before: whole(counts[0]), after: whole(counts[1]) };
        let totals = sides(samples.map(|count| count as f64 * scale));
        let part = sides(parts.map(|count| count as f64 * scale));
        let part =
            Sides { before: part.before.min(totals.before), after: part.after.min(totals.after) };
        let is_beyond = exceeds(values, threshold, 0.0)
            && Evidence::from_counts(part, totals, self.comparisons) == Evidence::BeyondNoise;
        is_beyond.then_some(Pair { values, noise: Noise::Beyond, threshold })
    }

    fn is_beyond(self, values: [f64; 2], exposures: [f64; 2]) -> bool {
        let counts = [values[0] * exposures[0], values[1] * exposures[1]];
        let is_valid = |value: &f64| value.is_finite() && *value >= 0.0;
        if !counts.iter().chain(&exposures).all(is_valid) || exposures.contains(&0.0) {
            return false;
        }
        let scale = scale(counts);
        // As many trials for a unit of exposure as the busier side needs.
        let trials = TRIALS * values[0].max(values[1]).max(f64::MIN_POSITIVE) * scale;
        let sides = |of: [f64; 2]| Sides { before: whole(of[0]), after: whole(of[1]) };
        let part = sides(counts.map(|count| count * scale));
        let totals = exposures.map(|exposure| exposure * trials);
        if totals.iter().any(|total| !(TRIALS..MOST_TRIALS).contains(total)) {
            return false;
        }
        let totals = sides(totals);
        Evidence::from_counts(part, totals, self.comparisons) == Evidence::BeyondNoise
    }
}

/// Judges two values without counts. A change of both the threshold and `least` is a difference.
pub(super) fn by_threshold(values: [f64; 2], threshold: f64, least: f64) -> Option<Pair> {
    exceeds(values, threshold, least).then_some(Pair { values, noise: Noise::Unknown, threshold })
}

fn exceeds(values: [f64; 2], threshold: f64, least: f64) -> bool {
    let (low, high) = (values[0].min(values[1]), values[0].max(values[1]));
    let change = high - low;
    change.is_finite() && change > 0.0 && change >= least && change >= threshold * low
}

fn scale(counts: [f64; 2]) -> f64 {
    let most = counts[0].max(counts[1]);
    if most > MOST_COUNTS { MOST_COUNTS / most } else { 1.0 }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, rounded"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUDGE: Judge = Judge::new(100);

    #[test]
    fn counts_that_chance_explains_do_not_differ() {
        fn check(values: [f64; 2], exposures: [f64; 2], expected: bool) {
            let found = JUDGE.counted(values, exposures, 0.1, 0.0).is_some();
            assert_eq!(found, expected, "{values:?} {exposures:?}");
        }
        // 15 and 30 events in 15 s, then 1,500 and 3,000.
        check([1.0, 2.0], [15.0, 15.0], false);
        check([100.0, 200.0], [15.0, 15.0], true);
        check([100.0, 109.0], [1e6, 1e6], false);
        check([0.0, 0.2], [15.0, 15.0], false);
        check([0.0, 10.0], [15.0, 15.0], true);
        check([1.0, 2.0], [0.0, 15.0], false);
        check([f64::NAN, 2.0], [15.0, 15.0], false);
        check([1e300, 1e308], [15.0, 15.0], false);
        check([1e300, 1e308], [1e300, 15.0], false);
    }

    #[test]
    fn shares_of_samples() {
        fn check(parts: [u64; 2], samples: [u64; 2], expected: bool) {
            let found = JUDGE.share(parts, samples, 0.1).is_some();
            assert_eq!(found, expected, "{parts:?} of {samples:?}");
        }
        check([100, 130], [3000, 3000], false);
        check([100, 300], [3000, 3000], true);
        check([100, 1000], [3000, 30_000], false);
        check([0, 60], [3000, 3000], true);
        check([1, 1], [0, 3000], false);
        check([u64::MAX, 1], [u64::MAX, u64::MAX], true);
        check([u64::MAX, u64::MAX], [1, u64::MAX], false);
    }

    #[test]
    fn thresholds() {
        fn check(values: [f64; 2], least: f64, expected: bool) {
            assert_eq!(by_threshold(values, 0.1, least).is_some(), expected, "{values:?}");
        }
        check([100.0, 109.0], 1.0, false);
        check([100.0, 111.0], 1.0, true);
        check([111.0, 100.0], 1.0, true);
        check([100.0, 111.0], 20.0, false);
        check([0.0, 0.0], 0.0, false);
        check([0.0, 5.0], 1.0, true);
        check([f64::NAN, 5.0], 1.0, false);
        check([5.0, f64::INFINITY], 1.0, false);
    }
}
