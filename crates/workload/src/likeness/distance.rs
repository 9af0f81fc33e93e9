//! Distances of distributions, and their noise: the 95th percentile of the distance between two captures of one source.

use std::collections::{BTreeMap, BTreeSet};

use crate::figures::{Sparse, Tally};

/// 95 % of the values of a normal distribution are within so many standard deviations.
const TWO_SIDED: f64 = 1.96;
/// The same for estimates from few values, with 2 to 7 degrees of freedom (Student).
const STUDENT: [f64; 6] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365];
/// The 95th percentile of the Kolmogorov distribution.
const KOLMOGOROV: f64 = 1.36;

/// Returns the Kolmogorov–Smirnov distance of exact values.
pub(super) fn exact(one: &BTreeMap<u64, u64>, other: &BTreeMap<u64, u64>) -> f64 {
    let values: BTreeSet<u64> = one.keys().chain(other.keys()).copied().collect();
    // Sums of a file that somebody else wrote may exceed an integer.
    let total =
        |of: &BTreeMap<u64, u64>| of.values().map(|count| *count as f64).sum::<f64>().max(1.0);
    let (all_of_one, all_of_other) = (total(one), total(other));
    let count = |of: &BTreeMap<u64, u64>, value| of.get(&value).map_or(0.0, |count| *count as f64);
    let (mut of_one, mut of_other, mut most) = (0.0, 0.0, 0.0_f64);
    for value in values {
        of_one += count(one, value);
        of_other += count(other, value);
        most = most.max((of_one / all_of_one - of_other / all_of_other).abs());
    }
    most
}

/// Returns the Kolmogorov–Smirnov distance of values that count as equal within `tolerance` of a value.
pub(super) fn tolerant(one: &Sparse, other: &Sparse, tolerance: impl Fn(f64) -> f64) -> f64 {
    let above = |one: &Cumulative, other: &Cumulative| {
        let distance =
            |(_, end, share): &(f64, f64, f64)| share - other.up_to(end + tolerance(*end));
        one.0.iter().map(distance).fold(0.0, f64::max)
    };
    let (one, other) = (Cumulative::new(one), Cumulative::new(other));
    above(&one, &other).max(above(&other, &one))
}

/// First and last values of buckets, each with the share of all values up to its end.
struct Cumulative(Vec<(f64, f64, f64)>);

impl Cumulative {
    fn new(values: &Sparse) -> Self {
        let total = values.total().max(1) as f64;
        let mut before = 0;
        let buckets = values.filled().map(|(first, last, count)| {
            before += count;
            (first as f64, last as f64, before as f64 / total)
        });
        Self(buckets.collect())
    }

    /// Returns the share of values up to one, and all others of its bucket.
    fn up_to(&self, value: f64) -> f64 {
        let place = self.0.partition_point(|(first, ..)| *first <= value);
        place.checked_sub(1).map_or(0.0, |place| self.0[place].2)
    }
}

/// Returns the noise of the distance of two distributions.
pub(super) fn kolmogorov_noise(one: u64, other: u64) -> f64 {
    KOLMOGOROV * (1.0 / one.max(1) as f64 + 1.0 / other.max(1) as f64).sqrt()
}

/// Returns the share of values that are of another kind (total variation), for counts by kind.
pub(super) fn of_kinds(one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>) -> f64 {
    let kinds: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = kinds.into_iter().map(|kind| (share_of(one, kind) - share_of(other, kind)).abs());
    differ.sum::<f64>() / 2.0
}

/// Returns the noise of that, for two samples of the source's shares. The kinds vary together at most.
pub(super) fn kinds_noise(source: &BTreeMap<String, u64>, one: u64, other: u64) -> f64 {
    source.keys().map(|kind| share_noise(share_of(source, kind), one, other)).sum::<f64>() / 2.0
}

/// Returns the noise of a share, for two samples of it.
pub(super) fn share_noise(share: f64, one: u64, other: u64) -> f64 {
    let counts = 1.0 / one.max(1) as f64 + 1.0 / other.max(1) as f64;
    TWO_SIDED * (share * (1.0 - share) * counts).max(0.0).sqrt()
}

/// Returns the share of a kind.
pub(super) fn share_of(counts: &BTreeMap<String, u64>, kind: &str) -> f64 {
    let total: f64 = counts.values().map(|count| *count as f64).sum();
    counts.get(kind).map_or(0.0, |count| *count as f64 / total.max(1.0))
}

/// Returns the noise of a quantile as a part of it, by the order of the values.
pub(super) fn quantile_noise(values: &Sparse, share: f64) -> Option<f64> {
    let width = TWO_SIDED * (share * (1.0 - share) / values.total().max(1) as f64).sqrt();
    let quantile = values.quantile(share)?;
    let between = values.quantile(share + width)? - values.quantile(share - width)?;
    (quantile > 0.0).then(|| between / 2.0 / quantile)
}

/// Returns the noise of a figure between two captures as a part of it, from its values in equal blocks of one; 0 with
/// too few blocks.
pub(super) fn block_noise(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 3 || mean <= 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let width = STUDENT.get(values.len() - 3).unwrap_or(&TWO_SIDED);
    width * (2.0 / count).sqrt() * deviation / mean
}

/// Returns the noise of a rate as a part of it, for an index of dispersion.
pub(super) fn rate_noise(dispersion: f64, one: u64, other: u64) -> f64 {
    let counts = 1.0 / one.max(1) as f64 + 1.0 / other.max(1) as f64;
    TWO_SIDED * (dispersion.max(0.0) * counts).sqrt()
}

/// Returns the index of dispersion of counts in windows, and the number of windows.
pub(super) fn dispersion(tallies: impl Iterator<Item = Tally>) -> Option<(f64, f64)> {
    let tally = tallies.fold(Tally::default(), Tally::plus);
    if tally.windows < 10.0 || tally.sum <= 0.0 {
        return None;
    }
    let mean = tally.sum / tally.windows;
    let variance = (tally.squares / tally.windows - mean * mean).max(0.0);
    Some((variance * tally.windows / (tally.windows - 1.0) / mean, tally.windows))
}

/// Returns the noise of one more than the index of dispersion of a source, as a part of it. Each index has its number of
/// windows.
pub(super) fn dispersion_noise(source: (f64, f64), run: (f64, f64)) -> f64 {
    // The variance of independent counts varies by the square root of 2 in the number of windows. The larger of both
    // indexes is nearer to the true one, because the distribution has a long tail above.
    let varied = (2.0 / source.1.max(1.0) + 2.0 / run.1.max(1.0)).sqrt();
    TWO_SIDED * source.0.max(run.0) / (1.0 + source.0) * varied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(values: impl IntoIterator<Item = u64>) -> Sparse {
        let mut sparse = Sparse::default();
        values.into_iter().for_each(|value| sparse.add(value));
        sparse
    }

    #[test]
    fn exact_values_have_their_distance() {
        fn check(one: &[(u64, u64)], other: &[(u64, u64)], expected: f64) {
            let map = |pairs: &[(u64, u64)]| pairs.iter().copied().collect();
            assert!((exact(&map(one), &map(other)) - expected).abs() < 1e-9, "{one:?} {other:?}");
        }
        check(&[(512, 10)], &[(512, 70)], 0.0);
        check(&[(512, 10)], &[(614, 10)], 1.0);
        check(&[(512, 6), (1_000, 4)], &[(512, 5), (1_000, 5)], 0.1);
    }

    #[test]
    fn kinds_have_their_distance_and_its_noise() {
        let map = |pairs: &[(&str, u64)]| {
            pairs.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
        };
        let (one, other) = (map(&[("a", 90), ("b", 10)]), map(&[("a", 70), ("c", 30)]));
        assert!((of_kinds(&one, &other) - 0.3).abs() < 1e-9);
        assert!(of_kinds(&one, &map(&[("a", 9), ("b", 1)])) < 1e-9);
        // Of two kinds, the noise of one share.
        let expected = 1.96 * (0.9_f64 * 0.1 * (1.0 / 100.0 + 1.0 / 400.0)).sqrt();
        assert!((kinds_noise(&one, 100, 400) - expected).abs() < 1e-9);
        assert!(kinds_noise(&map(&[("a", 5)]), 5, 5) < 1e-9);
    }

    #[test]
    fn near_values_are_equal_and_others_are_not() {
        let close = |value: f64| (0.05 * value).max(1e6);
        let timer = sparse((0..500).map(|number| 20_000_000 + number % 2 * 60_000));
        let later = sparse((0..500).map(|number| 20_000_000 - number % 7 * 60_000));
        let slower = sparse((0..500).map(|_| 24_000_000));
        assert!(tolerant(&timer, &later, close) < 0.01);
        assert!(tolerant(&timer, &slower, close) > 0.99);
        assert!(tolerant(&slower, &timer, close) > 0.99);
        let half = sparse((0..500).map(|number| 20_000_000 + number % 2 * 20_000_000));
        assert!((tolerant(&timer, &half, close) - 0.5).abs() < 0.01);
    }

    #[test]
    fn noise_is_that_of_the_order_of_values() {
        let even = sparse([10_000_000; 1_000]);
        assert!(quantile_noise(&even, 0.99).unwrap() < 0.04);
        // An exponential distribution: the 99th percentile varies by 9.7 % in two captures of 3,000.
        let values = (0..3_000).map(|rank| -((f64::from(rank) + 0.5) / 3_000.0).ln() * 1e7);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let noise = quantile_noise(&sparse(values.map(|value| value as u64)), 0.99).unwrap();
        assert!((0.08..0.13).contains(&(noise * core::f64::consts::SQRT_2)), "{noise}");
    }

    #[test]
    fn two_captures_of_independent_messages_are_within_their_noise() {
        let mut random = rabbitscope_runs::Random::new(4);
        let mut index = || {
            let mut counts = crate::figures::CountsOverTime::default();
            let (mut at, mut tally) = (0, Tally::default());
            while at < 30_000_000_000 {
                tally = tally.plus(counts.add(at)[2]);
                at += crate::tests::exponential(&mut random, 8_000_000);
            }
            dispersion([tally].into_iter()).unwrap()
        };
        let beyond = (0..300).filter(|_| {
            let (source, run) = (index(), index());
            let difference = (source.0 - run.0).abs() / (1.0 + source.0);
            difference > dispersion_noise(source, run)
        });
        let beyond = beyond.count();
        assert!(beyond <= 15, "{beyond} of 300");
    }

    #[test]
    fn the_noise_of_rates_needs_its_messages() {
        // 3 % of the rate need 8,500 messages in each capture.
        assert!((rate_noise(1.0, 8_536, 8_536) - 0.03).abs() < 1e-4);
        assert!((kolmogorov_noise(1_480, 1_480) - 0.05).abs() < 1e-3);
        assert!(block_noise(&[1.0, 2.0]) < 1e-9);
        let expected = 3.182 * core::f64::consts::FRAC_1_SQRT_2 * 0.081_65;
        assert!((block_noise(&[9.0, 10.0, 11.0, 10.0]) - expected).abs() < 1e-3);
    }
}
