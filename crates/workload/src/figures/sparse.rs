//! A histogram of few different values, in the buckets of [`Buckets`](super::Buckets).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::buckets::{bounds, place};

/// Counts of values by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sparse(BTreeMap<u16, u32>);

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
