//! A histogram of few different values, in the buckets of [`Buckets`](super::Buckets).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::buckets::{bounds, place};

/// Number of buckets.
const BUCKETS: u16 = 16 * 61;

/// Counts of values by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<u16, u32>", into = "BTreeMap<u16, u32>")]
pub(crate) struct Sparse(BTreeMap<u16, u32>);

impl TryFrom<BTreeMap<u16, u32>> for Sparse {
    type Error = String;

    /// Refuses buckets that no value has.
    fn try_from(counts: BTreeMap<u16, u32>) -> Result<Self, String> {
        match counts.keys().find(|place| **place >= BUCKETS) {
            Some(place) => Err(format!("bucket {place} is not one of 0 to {}", BUCKETS - 1)),
            None => Ok(Self(counts)),
        }
    }
}

impl From<Sparse> for BTreeMap<u16, u32> {
    fn from(counts: Sparse) -> Self {
        counts.0
    }
}

impl Sparse {
    pub(crate) fn add(&mut self, value: u64) {
        let place = u16::try_from(place(value)).unwrap_or(u16::MAX);
        let count = self.0.entry(place).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (place, more) in &other.0 {
            let count = self.0.entry(*place).or_default();
            *count = count.saturating_add(*more);
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().map(|count| u64::from(*count)).sum()
    }

    /// Returns a quantile from 0 to 1, interpolated within its bucket; none without values.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share.clamp(0.0, 1.0) * self.total() as f64;
        let mut before = 0.0;
        let mut last_value = None;
        for (first, last, count) in self.filled() {
            let inside = ((wanted - before) / count as f64).clamp(0.0, 1.0);
            let value = first as f64 + inside * (last - first) as f64;
            if before + count as f64 >= wanted {
                return Some(value);
            }
            before += count as f64;
            last_value = Some(value);
        }
        last_value
    }

    /// Returns the buckets that have values: first and last value, count.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.0.iter().map(|(place, count)| {
            let (first, last) = bounds(usize::from(*place));
            (first, last, u64::from(*count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_bucket_that_can_be_read_again() {
        let mut sparse = Sparse::default();
        for value in [0, 15, 16, 1_000, 1 << 40, u64::MAX] {
            sparse.add(value);
        }
        let text = serde_json::to_string(&sparse).unwrap();
        assert_eq!(serde_json::from_str::<Sparse>(&text).unwrap(), sparse);
        assert_eq!(sparse.filled().last().unwrap().1, u64::MAX);
        assert!(serde_json::from_str::<Sparse>("{\"976\": 1}").is_err());
    }
}
