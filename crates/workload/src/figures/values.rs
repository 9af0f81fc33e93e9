//! Exact counts of the most frequent values.
//!
//! The algorithm is *Space-Saving* (Metwally, Agrawal and El Abbadi, 2005): a value that finds no room takes the place of
//! the rarest one, and its count. So a count is too high by at most the total divided by the room.

use std::collections::BTreeMap;

/// Number of values that are kept.
const ROOM: usize = 64;

/// Counts of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Values<T: Ord> {
    /// For each value its count, and the part of that count which may belong to others.
    counts: BTreeMap<T, (u64, u64)>,
    total: u64,
    /// True if some value found no room.
    is_cut: bool,
}

impl<T: Ord> Default for Values<T> {
    fn default() -> Self {
        Self { counts: BTreeMap::new(), total: 0, is_cut: false }
    }
}

impl<T: Ord + Clone> Values<T> {
    pub(crate) fn add(&mut self, value: T) {
        self.add_several(value, 1, 0);
    }

    pub(crate) fn add_times(&mut self, value: T, count: u64) {
        self.add_several(value, count, 0);
    }

    fn add_several(&mut self, value: T, count: u64, doubtful: u64) {
        self.total += count;
        if let Some((known, doubt)) = self.counts.get_mut(&value) {
            *known += count;
            *doubt += doubtful;
            return;
        }
        let mut inherited = 0;
        if self.counts.len() >= ROOM {
            self.is_cut = true;
            let rarest = self.counts.iter().min_by_key(|(_, (count, _))| *count);
            if let Some((rarest, _)) = rarest.map(|(value, count)| (value.clone(), *count)) {
                inherited = self.counts.remove(&rarest).map_or(0, |(count, _)| count);
            }
        }
        self.counts.insert(value, (inherited + count, inherited + doubtful));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.is_cut |= other.is_cut;
        for (value, (count, doubt)) in &other.counts {
            self.add_several(value.clone(), *count, *doubt);
        }
        // Counts taken over from others are in the sum of both, so the total is that of the messages.
        let counted: u64 = other.counts.values().map(|(count, _)| count).sum();
        self.total = self.total + other.total - counted;
    }

    /// Replaces each value. Values that become the same are added up.
    pub(crate) fn map<U: Ord>(self, mut replace: impl FnMut(T) -> U) -> Values<U> {
        let (total, is_cut) = (self.total, self.is_cut);
        let mut mapped = Values { counts: BTreeMap::new(), total, is_cut };
        for (value, (count, doubt)) in self.counts {
            let known = mapped.counts.entry(replace(value)).or_default();
            *known = (known.0 + count, known.1 + doubt);
        }
        mapped
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns whether all values are known.
    pub(crate) const fn is_complete(&self) -> bool {
        !self.is_cut
    }

    /// Returns the values with their certain counts, most frequent first.
    pub(crate) fn ranked(&self) -> Vec<(&T, u64)> {
        let certain = self.counts.iter().map(|(value, (count, doubt))| (value, count - doubt));
        let mut ranked: Vec<_> = certain.filter(|(_, count)| *count > 0).collect();
        ranked.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        ranked
    }

    /// Returns the most frequent value, with its share.
    pub(crate) fn most_frequent(&self) -> Option<(&T, f64)> {
        let (value, count) = self.ranked().into_iter().next()?;
        Some((value, count as f64 / self.total.max(1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_values_are_exact_among_many_rare_ones() {
        let mut values = Values::default();
        for number in 0..10_000_u64 {
            values.add(if number % 3 == 0 { 512 } else { 10_000 + number });
        }
        let (value, share) = values.most_frequent().unwrap();
        assert_eq!(*value, 512);
        assert!((share - 0.3334).abs() < 0.02, "{share}");
        assert!(!values.is_complete() && values.total() == 10_000);
        // Others are as rare as they may be.
        assert!(values.ranked()[1].1 < 200);
    }

    #[test]
    fn merged_counts_are_sums() {
        let (mut one, mut other) = (Values::default(), Values::default());
        for (first, second) in [(1, 2), (1, 3), (2, 2)] {
            one.add(first);
            other.add(second);
        }
        one.merge(&other);
        assert_eq!(one.ranked(), [(&2, 3), (&1, 2), (&3, 1)]);
        assert!(one.is_complete() && one.total() == 6);
    }
}
