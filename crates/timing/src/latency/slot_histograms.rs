//! Histograms by slot: of a load thread, which records into the selected slot, and of a second, summed over threads.

use rabbitscope_runs::record::{Latency, Percentiles};
use serde::{Deserialize, Serialize};

use super::histogram::{LatencyHistogram, latency_point};
use crate::clock::Nanos;

/// A histogram for each [`Latency`].
pub type HistogramSet = [LatencyHistogram; Latency::ALL.len()];

/// Histograms by slot, of one thread or of several.
///
/// A thread records into the selected slot. [`SlotHistograms::store_selected`] ends that.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SlotHistograms {
    /// All but the selected slot.
    slots: Vec<HistogramSet>,
    #[serde(skip)]
    selected: u16,
    #[serde(skip)]
    of_selected: HistogramSet,
}

/// Latencies of a second over all slots.
#[derive(Debug)]
pub struct SecondHistograms(HistogramSet);

impl SlotHistograms {
    /// Selects the slot of the measurements that follow.
    #[inline]
    pub fn select(&mut self, slot: u16) {
        if slot != self.selected {
            self.store_selected();
            self.selected = slot;
            let at = usize::from(slot);
            self.of_selected = self.slots.get_mut(at).map(std::mem::take).unwrap_or_default();
        }
    }

    /// Records `count` measurements of `value` in the selected slot.
    #[inline]
    pub fn record(&mut self, latency: Latency, value: Nanos, count: u64) {
        self.of_selected[latency as usize].record(value, count);
    }

    /// Stores the histograms of the selected slot with those of the others. Required before the histograms of threads
    /// are added or sent.
    pub fn store_selected(&mut self) {
        let at = usize::from(self.selected);
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, HistogramSet::default);
        }
        let measured = std::mem::take(&mut self.of_selected);
        for (sum, part) in self.slots[at].iter_mut().zip(measured) {
            sum.absorb(part);
        }
    }

    /// Adds the histograms of another interval or thread.
    pub fn add(&mut self, other: &Self) {
        merge(&mut self.of_selected, &other.of_selected);
        add_slots(&mut self.slots, &other.slots);
    }

    /// Moves the histograms out of `other`.
    pub fn absorb(&mut self, other: &mut Self) {
        self.store_selected();
        add_slots(&mut self.slots, &other.take());
    }

    /// Takes the histograms of all slots, by slot.
    pub fn take(&mut self) -> Vec<HistogramSet> {
        self.store_selected();
        std::mem::take(&mut self.slots)
    }

    /// Number of measurements.
    pub fn samples(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().flatten().map(LatencyHistogram::samples)
    }

    /// Memory in KiB.
    pub fn kib(&self) -> usize {
        self.slots.iter().flatten().chain(&self.of_selected).map(LatencyHistogram::kib).sum()
    }
}

impl SecondHistograms {
    /// Sums the slots.
    pub fn from_slots(slots: &[HistogramSet]) -> Self {
        let mut sum = HistogramSet::default();
        for histograms in slots {
            merge(&mut sum, histograms);
        }
        Self(sum)
    }

    /// All histograms, in the order of [`Latency::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = &LatencyHistogram> {
        self.0.iter()
    }

    /// Returns the figures of a latency for a row of the series.
    pub fn point(&self, latency: Latency) -> Option<Percentiles> {
        latency_point(&self.0[latency as usize])
    }
}

/// Adds the histograms of each slot.
pub fn add_slots(sum: &mut Vec<HistogramSet>, part: &[HistogramSet]) {
    if sum.len() < part.len() {
        sum.resize_with(part.len(), HistogramSet::default);
    }
    for (sum, part) in sum.iter_mut().zip(part) {
        merge(sum, part);
    }
}

/// Adds the histograms of one slot.
pub fn merge(sum: &mut HistogramSet, part: &HistogramSet) {
    for (sum, part) in sum.iter_mut().zip(part) {
        sum.add(part);
    }
}
