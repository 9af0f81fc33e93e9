//! The test of a share's change against the noise of sampling, with a stated error rate for all comparisons of a table
//! together.
//!
//! Each comparison is Fisher's exact test of two counted shares, two-sided. It is exact for counts of any size and for
//! recordings of very different length, where a normal approximation marks too much. The level of one comparison is the
//! level of all divided by their number (Bonferroni). That needs no independence: the total shares of a function and
//! its callers may depend on each other. Bytes and nanoseconds are counted in pieces whose size follows from their
//! variance.

use rabbitscope_profiles::{Profile, Sample};

use super::Sides;

/// Share of comparisons of two recordings with the same true shares in which anything is marked.
pub const FAMILY_ERROR_RATE: f64 = 0.001;

/// The result of a change's test against the noise of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The change is larger than counts of this size vary by chance. Differences between runs are another matter, which
    /// only repeated runs can show.
    BeyondNoise,
    /// Chance alone may have caused the change.
    WithinNoise,
}

impl Evidence {
    /// Tests two counted shares, of samples that weigh the same. Any of `comparisons` such tests is wrong at
    /// [`FAMILY_ERROR_RATE`] together.
    pub fn from_counts(part: Sides, totals: Sides, comparisons: usize) -> Self {
        Judge::new(totals, None, FAMILY_ERROR_RATE, comparisons).evidence(part, None)
    }
}

/// The test of changes, for a given number of comparisons between two recordings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    totals: Sides,
    /// Sum of the squares of all pieces of both profiles, as in [`squared`].
    squares: f64,
    level: f64,
}

impl Judge {
    /// `family_rate` is the rate at which any of the comparisons may be wrong. `squares` is absent if every sample
    /// weighs 1.
    pub(super) fn new(
        totals: Sides,
        squares: Option<f64>,
        family_rate: f64,
        comparisons: usize,
    ) -> Self {
        let squares = squares.unwrap_or((totals.before + totals.after) as f64);
        Self { totals, squares, level: family_rate / comparisons.max(1) as f64 }
    }

    /// Tests a part; `squares` are those of its pieces. `ui/src/flame/noise.ts` has the same test for spans that a
    /// reader draws.
    pub(super) fn evidence(&self, part: Sides, squares: Option<f64>) -> Evidence {
        let sum = |sides: Sides| (sides.before + sides.after) as f64;
        let piece = match squares {
            Some(squares) => self.piece(sum(part), sum(self.totals), squares),
            None => 1.0,
        };
        let counted = |weight: u64| (weight as f64 / piece).round();
        let part = [counted(part.before), counted(part.after)];
        let all = [counted(self.totals.before), counted(self.totals.after)];
        if p_value(part, all) < self.level { Evidence::BeyondNoise } else { Evidence::WithinNoise }
    }

    /// Returns the weight that equal samples would need for the same variance of the share. It combines Σ weight² / Σ
    /// weight (Kish) of the part and of the rest, each by its contribution to the variance of the ratio.
    fn piece(&self, part: f64, all: f64, squares: f64) -> f64 {
        let mean = |squares: f64, sum: f64| if sum > 0.0 { squares / sum } else { 0.0 };
        let share = part / all;
        let rest = mean(self.squares - squares, all - part);
        ((1.0 - share) * mean(squares, part) + share * rest).max(1.0)
    }
}

/// Returns the unit for squares of weights, so that their sum fits into 64 bits; absent if every sample weighs 1.
pub(super) fn square_unit(profiles: [&Profile; 2]) -> Option<f64> {
    let heaviest = profiles.map(Profile::total).into_iter().max().unwrap_or(0);
    let is_weighted = profiles.iter().any(|profile| profile.event.is_weighted());
    is_weighted.then_some((heaviest as f64 / f64::from(1 << 30)).max(1.0))
}

/// Returns the same stacks, with the sum of the squares of its pieces as each sample's weight. The weight in one step
/// of time is one piece; without times, all occurrences are assumed to weigh the same.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 2^60, as the unit says, and not negative"
)]
pub(super) fn squared(profile: &Profile, unit: f64) -> Profile {
    let mut result = profile.clone();
    for sample in &mut result.samples {
        let squares: f64 =
            pieces(sample).map(|(piece, count)| count * (piece / unit).powi(2)).sum();
        sample.weight = squares.ceil() as u64;
    }
    result
}

/// Returns the weights of a sample's pieces, with the number of each.
fn pieces(sample: &Sample) -> impl Iterator<Item = (f64, f64)> {
    let timed: u64 = sample.times.iter().map(|(_, weight)| weight).sum();
    let rest = sample.weight.saturating_sub(timed) as f64;
    let count = if timed == 0 { sample.count.max(1) as f64 } else { 1.0 };
    let at_once = sample.times.iter().map(|(_, weight)| (weight as f64, 1.0));
    at_once.chain([(rest / count, count)])
}

/// Returns the minimum number of counted samples per unit of weight: one if samples weigh the same. Bytes and
/// nanoseconds come in pieces of any size. Then it is one over the largest piece, because sums of smaller pieces vary
/// less.
pub fn counts_per_weight(profile: &Profile) -> f64 {
    if !profile.event.is_weighted() {
        return 1.0;
    }
    let heaviest = profile.samples.iter().flat_map(pieces).map(|(piece, _)| piece);
    1.0 / heaviest.fold(1.0, f64::max)
}

/// Returns the probability that truly equal shares differ by as much as these: Fisher's exact test, twice the smaller
/// tail. `part` of `all` are counted on each side.
fn p_value(part: [f64; 2], all: [f64; 2]) -> f64 {
    let (marked, whole) = (part[0] + part[1], all[0] + all[1]);
    let expected = marked * all[0] / whole;
    let variance = expected * (1.0 - marked / whole) * (all[1] / whole);
    // Within two standard deviations it is far above any level; most comparisons end here.
    if marked <= 0.0 || marked >= whole || (part[0] - expected).powi(2) < 4.0 * variance {
        return 1.0;
    }
    let mirrored = if part[0] > expected { part } else { [part[1], part[0]] };
    let all = if part[0] > expected { all } else { [all[1], all[0]] };
    (2.0 * upper_tail(mirrored, all)).min(1.0)
}

/// Returns the probability of `part[0]` or more of the marked ones on the first side (hypergeometric distribution).
fn upper_tail(part: [f64; 2], all: [f64; 2]) -> f64 {
    let (mut first, mut second) = (part[0], part[1]);
    let log = ln_choose(all[0], first) + ln_choose(all[1], second)
        - ln_choose(all[0] + all[1], first + second);
    let mut term = 1.0;
    let mut sum = 1.0;
    while second > 0.0 && first < all[0] && term > sum * 1e-16 {
        term *= (all[0] - first) * second / ((first + 1.0) * (all[1] - second + 1.0));
        sum += term;
        (first, second) = (first + 1.0, second - 1.0);
    }
    log.exp() * sum
}

fn ln_choose(all: f64, part: f64) -> f64 {
    ln_factorial(all) - ln_factorial(part) - ln_factorial(all - part)
}

/// Stirling's series, with an argument that is first made large enough for it.
fn ln_factorial(number: f64) -> f64 {
    let mut argument = number + 1.0;
    let mut product = 1.0;
    while argument < 10.0 {
        product *= argument;
        argument += 1.0;
    }
    let inverse = 1.0 / argument;
    let series = inverse * (1.0 / 12.0 - inverse * inverse * (1.0 / 360.0));
    (argument - 0.5) * argument.ln() - argument + 0.5 * std::f64::consts::TAU.ln() + series
        - product.ln()
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Event, read_folded};

    use super::*;

    fn evidence(part: Sides, totals: Sides) -> Evidence {
        Judge::new(totals, None, FAMILY_ERROR_RATE, 100).evidence(part, None)
    }

    fn check(part: [f64; 2], all: [f64; 2], expected: f64) {
        let found = p_value(part, all);
        assert!((found / expected - 1.0).abs() < 1e-4, "{part:?} of {all:?}: {found:e}");
    }

    /// Compares with the products that make up the probabilities.
    #[test]
    fn probabilities_are_exact() {
        // 2 · C(10,10)·C(10,0) / C(20,10)
        check([10.0, 0.0], [10.0, 10.0], 2.0 / 184_756.0);
        check([0.0, 10.0], [10.0, 10.0], 2.0 / 184_756.0);
        // 2 · (1 + 10·10) / C(20,10)
        check([9.0, 1.0], [10.0, 10.0], 2.0 * 101.0 / 184_756.0);
        // All three samples are on the side of a tenth: 2 · C(10,3) / C(100,3)
        check([3.0, 0.0], [10.0, 90.0], 2.0 * 120.0 / 161_700.0);
    }

    #[test]
    fn chance_is_told_from_change() {
        fn check(before: u64, after: u64, expected: Evidence) {
            let totals = Sides { before: 10_000, after: 10_000 };
            assert_eq!(evidence(Sides { before, after }, totals), expected, "{before} {after}");
        }
        check(0, 0, Evidence::WithinNoise);
        check(100, 110, Evidence::WithinNoise);
        check(100, 130, Evidence::WithinNoise);
        check(100, 180, Evidence::BeyondNoise);
        check(0, 30, Evidence::BeyondNoise);
        check(10_000, 10_000, Evidence::WithinNoise);
    }

    /// A normal approximation takes the first case for 14 standard errors.
    #[test]
    fn a_short_recording_against_a_long_one_is_not_marked_for_two_samples() {
        let totals = Sides { before: 1_000, after: 100_000 };
        assert_eq!(evidence(Sides { before: 2, after: 0 }, totals), Evidence::WithinNoise);
        assert_eq!(evidence(Sides { before: 20, after: 0 }, totals), Evidence::BeyondNoise);
    }

    #[test]
    fn large_pieces_are_few_samples() {
        let totals = Sides { before: 4000, after: 4000 };
        let part = Sides { before: 1000, after: 1400 };
        // The weights count as equal pieces of this size.
        let evidence = |piece: f64| {
            let judge = Judge::new(totals, Some(8000.0 * piece), FAMILY_ERROR_RATE, 100);
            judge.evidence(part, Some(2400.0 * piece))
        };
        assert_eq!(evidence(1.0), Evidence::BeyondNoise);
        assert_eq!(evidence(100.0), Evidence::WithinNoise);
    }

    #[test]
    fn the_largest_piece_decides_how_much_weight_is_one_sample() {
        let mut profile = read_folded("a 1000\nb 3000".as_bytes()).unwrap();
        assert!((counts_per_weight(&profile) - 1.0).abs() < 1e-12);
        profile.event = Event::OffCpu;
        for sample in &mut profile.samples {
            sample.count = 10;
        }
        assert!((counts_per_weight(&profile) - 1.0 / 300.0).abs() < 1e-12);
        profile.samples[0].times.add(3, 900);
        assert!((counts_per_weight(&profile) - 1.0 / 900.0).abs() < 1e-12);
    }
}
