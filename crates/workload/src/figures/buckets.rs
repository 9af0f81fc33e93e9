//! A histogram with logarithmic buckets.

/// Number of buckets for each doubling, as a power of two. Sixteen keep quantiles within 3 %.
const BITS: u32 = 4;
const PER_OCTAVE: u64 = 1 << BITS;

/// Counts of values. Values below 16 have a bucket each; others share a bucket with those that differ by up to 6 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets {
    counts: Vec<u32>,
    total: u64,
    sum: u128,
    max: u64,
}

impl Buckets {
    pub(crate) fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    pub(crate) fn add_times(&mut self, value: u64, count: u64) {
        let place = place(value);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        let more = u32::try_from(count).unwrap_or(u32::MAX);
        self.counts[place] = self.counts[place].saturating_add(more);
        self.total += count;
        self.sum += u128::from(value) * u128::from(count);
        self.max = self.max.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let places = self.counts.len().max(other.counts.len());
        self.counts.resize(places, 0);
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total += other.total;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// Returns a quantile from 0 to 1, interpolated within its bucket; none without values.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let wanted = share * self.total as f64;
        let mut before = 0.0;
        for (place, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = f64::from(*count);
            if before + count >= wanted {
                let (first, last) = bounds(place);
                let inside = ((wanted - before) / count).clamp(0.0, 1.0);
                let value = first as f64 + inside * (last - first) as f64;
                return Some(value.min(self.max as f64));
            }
            before += count;
        }
        Some(self.max as f64)
    }

    /// Returns the buckets that have values: first and last value, count.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(place, count)| {
            let (first, last) = bounds(place);
            (first, last, u64::from(*count))
        })
    }
}

/// Returns the number of the bucket of a value.
pub(super) fn place(value: u64) -> usize {
    if value < PER_OCTAVE {
        return usize::try_from(value).unwrap_or_default();
    }
    let octave = value.ilog2() - BITS;
    let within = (value >> octave) - PER_OCTAVE;
    let place = u64::from(octave + 1) * PER_OCTAVE + within;
    usize::try_from(place).unwrap_or_default()
}

/// Returns the first and the last value of a bucket.
pub(super) const fn bounds(place: usize) -> (u64, u64) {
    let place = place as u64;
    if place < PER_OCTAVE {
        return (place, place);
    }
    let octave = place / PER_OCTAVE - 1;
    let first = (PER_OCTAVE + place % PER_OCTAVE) << octave;
    (first, first + ((1 << octave) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_values() {
        let values = (0..300).chain([1_000, 65_535, 65_536, 1 << 40, u64::MAX - 1]);
        for value in values {
            let (first, last) = bounds(place(value));
            assert!((first..=last).contains(&value), "{value}: {first} to {last}");
            assert!(last - first <= first / 16, "{value}: {first} to {last}");
        }
    }

    #[test]
    fn quantiles_are_near_the_true_ones() {
        let mut buckets = Buckets::default();
        (1..=10_000).for_each(|value| buckets.add(value));
        for (share, expected) in [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0), (1.0, 10_000.0)]
        {
            let found = buckets.quantile(share).unwrap();
            assert!((found / expected - 1.0).abs() < 0.02, "{share}: {found}");
        }
        assert!((buckets.mean().unwrap() - 5_000.5).abs() < 1e-6);
        assert_eq!(Buckets::default().quantile(0.5), None);
    }
}
