//! Sizes of messages: exact frequent ones, and ranges for the rest.

use crate::figures::{Buckets, Values};

/// Least share of a size that is written exactly.
const ATOM_SHARE: f64 = 0.02;
/// Share of one size above which it stands for all.
const ONE_SHARE: f64 = 0.98;
/// Maximum of ranges.
const RANGES_MAX: usize = 24;

/// A distribution of sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    /// Exact sizes with their shares, most frequent first.
    pub(crate) atoms: Vec<(u64, f64)>,
    /// Ranges of all others: first and last size, share.
    pub(crate) ranges: Vec<(u64, u64, f64)>,
    pub(crate) mean: f64,
}

impl Sizes {
    pub(super) fn new(values: &Values<u64>, buckets: &Buckets) -> Self {
        let total = values.total().max(1) as f64;
        let ranked = values.ranked();
        let share = |count: u64| count as f64 / total;
        let atoms: Vec<(u64, f64)> = ranked
            .iter()
            .map(|(size, count)| (**size, share(*count)))
            .filter(|(_, share)| *share >= ATOM_SHARE)
            .collect();
        let rest = buckets.filled().filter_map(|(first, last, count)| {
            let exact = atoms.iter().filter(|(size, _)| (first..=last).contains(size));
            let left = share(count) - exact.map(|(_, share)| share).sum::<f64>();
            (left > 0.5 / total).then_some((first, last, left))
        });
        let mut ranges: Vec<_> = rest.collect();
        while ranges.len() > RANGES_MAX {
            join_least(&mut ranges);
        }
        Self { atoms, ranges, mean: buckets.mean().unwrap_or_default() }
    }

    /// Returns the size that stands for all, if there is one.
    pub(crate) fn single(&self) -> Option<u64> {
        let (size, share) = self.atoms.first()?;
        (*share >= ONE_SHARE).then_some(*size)
    }

    /// Returns sizes with their shares: the exact ones, and the middle of each range.
    pub(crate) fn weighted(&self) -> Vec<(u64, f64)> {
        let middles =
            self.ranges.iter().map(|(first, last, share)| (first.midpoint(*last), *share));
        let mut weighted: Vec<_> = self.atoms.iter().copied().chain(middles).collect();
        weighted.sort_by_key(|(size, _)| *size);
        weighted
    }
}

/// Joins the two neighbours that lose least: few messages in a relatively narrow range.
fn join_least(ranges: &mut Vec<(u64, u64, f64)>) {
    let loss = |pair: &[(u64, u64, f64)]| {
        let width = ((pair[1].1 + 1) as f64 / (pair[0].0 + 1) as f64).ln();
        (pair[0].2 + pair[1].2) * width
    };
    let losses = ranges.windows(2).map(loss).enumerate();
    if let Some((place, _)) = losses.min_by(|one, other| one.1.total_cmp(&other.1)) {
        let (_, last, share) = ranges.remove(place + 1);
        ranges[place].1 = last;
        ranges[place].2 += share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(all: impl Iterator<Item = u64>) -> Sizes {
        let (mut values, mut buckets) = (Values::default(), Buckets::default());
        for size in all {
            values.add(size);
            buckets.add(size);
        }
        Sizes::new(&values, &buckets)
    }

    #[test]
    fn one_size_stands_for_all() {
        let sizes = sizes([1_000; 99].into_iter().chain([7]));
        assert_eq!(sizes.single(), Some(1_000));
        assert_eq!(sizes.weighted(), [(7, 0.01), (1_000, 0.99)]);
    }

    #[test]
    fn frequent_sizes_are_exact_and_the_rest_are_ranges() {
        let rest = (0..4_000).map(|number| 1_000 + number * 7 % 31_000);
        let sizes = sizes(core::iter::repeat_n(512, 6_000).chain(rest));
        assert_eq!(sizes.single(), None);
        assert_eq!(sizes.atoms.len(), 1);
        assert!((sizes.atoms[0].1 - 0.6).abs() < 0.01, "{sizes:?}");
        assert!(sizes.ranges.len() <= RANGES_MAX);
        let all: f64 = sizes.weighted().iter().map(|(_, share)| share).sum();
        assert!((all - 1.0).abs() < 0.01, "{all}");
        let mean: f64 = sizes.weighted().iter().map(|(size, share)| *size as f64 * share).sum();
        assert!((mean / sizes.mean - 1.0).abs() < 0.1, "{mean} {}", sizes.mean);
    }
}
