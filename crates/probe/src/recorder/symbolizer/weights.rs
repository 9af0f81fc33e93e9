//! The weights of equal samples, within limits of memory.

use rabbitscope_profiles::{
    Event, MAX_LABELLED, MAX_TIME_BYTES, Mode, StackOutcome, Times, limit_notes,
};
use rustc_hash::FxHashMap;

use super::stacks::StackId;
use crate::kernel_interface::RawSample;

/// Key of equal samples, which are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SampleKey {
    pub(super) event: Event,
    pub(super) stack: StackId,
    pub(super) process: u64,
    pub(super) tid: u32,
    pub(super) mode: Mode,
    pub(super) outcome: StackOutcome,
}

/// The sum of the samples of one key.
#[derive(Clone, Debug, Default)]
pub(super) struct StackWeight {
    pub(super) count: u64,
    pub(super) weight: u64,
    pub(super) times: Times,
}

/// The weights of one recording, in the order of their first samples.
#[derive(Debug, Default)]
pub(super) struct StackWeights {
    sums: Vec<(SampleKey, StackWeight)>,
    /// Indices into the sums.
    index: FxHashMap<SampleKey, usize>,
    label_limit_hit: bool,
    /// Bytes of the times of all samples.
    time_bytes: usize,
}

impl StackWeights {
    /// Adds a sample whose times count from `first_step`.
    pub(super) fn add(&mut self, key: SampleKey, raw: &RawSample, first_step: u32) {
        let place = self.place_of(key);
        let (_, sum) = &mut self.sums[place];
        sum.count += raw.head.count;
        sum.weight += raw.head.weight;
        for (step, weight) in raw.times() {
            if self.time_bytes >= MAX_TIME_BYTES {
                break;
            }
            let before = sum.times.bytes().len();
            sum.times.add(first_step + step, weight);
            self.time_bytes += sum.times.bytes().len() - before;
        }
    }

    /// Index of the weight of a key, or of a less specific key beyond the limit.
    fn place_of(&mut self, key: SampleKey) -> usize {
        let key = self.within_limit(key);
        let sums = &mut self.sums;
        *self.index.entry(key).or_insert_with(|| {
            sums.push((key, StackWeight::default()));
            sums.len() - 1
        })
    }

    /// Above half of the limit new samples lose their thread, which matters least, and above all of it their process.
    fn within_limit(&mut self, mut key: SampleKey) -> SampleKey {
        if self.sums.len() >= MAX_LABELLED / 2 && !self.index.contains_key(&key) {
            key.tid = 0;
        }
        if self.sums.len() >= MAX_LABELLED && !self.index.contains_key(&key) {
            self.label_limit_hit = true;
            key.process = 0;
        }
        key
    }

    /// Drops the weights, but keeps their memory for as many new ones.
    pub(super) fn clear(&mut self) {
        let Self { sums, index, label_limit_hit, time_bytes } = self;
        sums.clear();
        index.clear();
        (*label_limit_hit, *time_bytes) = (false, 0);
    }

    /// Takes the weights of an event. Only their keys stay.
    pub(super) fn take(&mut self, event: Event) -> impl Iterator<Item = (SampleKey, StackWeight)> {
        let found = self.sums.iter_mut().filter(move |(key, _)| key.event == event);
        found.map(|(key, sum)| (*key, std::mem::take(sum)))
    }

    /// Notes for the profile.
    pub(super) fn notes(&self) -> Vec<String> {
        limit_notes(self.label_limit_hit, self.time_bytes >= MAX_TIME_BYTES)
    }
}
