//! What equal samples add up to, within limits of memory.

use rabbitscope_profiles::{Event, Mode, StackOutcome, Times};
use rustc_hash::FxHashMap;

use super::{stacks::StackId, wire::RawSample};

/// Distinct (stack, process, thread) triples that are kept; beyond half of it new ones lose the thread,
/// which says little, and beyond it the process, so that memory follows the number of code paths and
/// not the number of processes.
const MAX_LABELLED: usize = 400_000;

/// Bytes for the times of all samples. Ten minutes of ticks on 16 CPUs at 999 Hz need half of it.
const MOST_TIME_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackKey {
    pub(super) event: Event,
    pub(super) stack: StackId,
    pub(super) process: u64,
    pub(super) tid: u32,
    pub(super) mode: Mode,
    pub(super) outcome: StackOutcome,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) count: u64,
    pub(super) weight: u64,
    pub(super) times: Times,
}

/// The sums of one recording.
#[derive(Debug, Default)]
pub(super) struct Sums {
    by_key: FxHashMap<StackKey, Sum>,
    label_limit_hit: bool,
    /// What the times of all samples take.
    time_bytes: usize,
}

impl Sums {
    /// Adds what the kernel counted; its times count from `first_step`.
    pub(super) fn add(&mut self, key: StackKey, raw: &RawSample, first_step: u32) {
        let key = self.within_limit(key);
        let sum = self.by_key.entry(key).or_default();
        sum.count += raw.count;
        sum.weight += raw.weight;
        for (step, weight) in raw.times() {
            if self.time_bytes >= MOST_TIME_BYTES {
                break;
            }
            self.time_bytes -= sum.times.bytes().len();
            sum.times.add(first_step + step, weight);
            self.time_bytes += sum.times.bytes().len();
        }
    }

    fn within_limit(&mut self, mut key: StackKey) -> StackKey {
        if self.by_key.len() >= MAX_LABELLED / 2 && !self.by_key.contains_key(&key) {
            key.tid = 0;
        }
        if self.by_key.len() >= MAX_LABELLED && !self.by_key.contains_key(&key) {
            self.label_limit_hit = true;
            key.process = 0;
        }
        key
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&StackKey, &Sum)> {
        self.by_key.iter()
    }

    /// Remarks for the reader.
    pub(super) fn notes(&self) -> Vec<String> {
        let labels = format!(
            "more than {MAX_LABELLED} combinations of stack and process: later ones carry no process"
        );
        let times = "there are too many samples to keep the times of all: later ones have none";
        let notes = [
            (self.label_limit_hit, labels),
            (self.time_bytes >= MOST_TIME_BYTES, times.to_owned()),
        ];
        notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note).collect()
    }
}
