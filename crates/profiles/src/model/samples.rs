//! Sums of samples with the same stack and labels.

use std::collections::{HashMap, hash_map::Entry};

use super::{FrameId, FrameKind, FrameTable, Labels, Mode, Sample, StackEntry, StackOutcome};

impl StackEntry {
    /// Adds activations of a function at the end of a stack. Direct recursion lengthens the last entry.
    pub fn push(stack: &mut Vec<Self>, frame: FrameId, repeat: u32) {
        match stack.last_mut() {
            Some(last) if last.frame == frame => last.repeat += repeat,
            _ => stack.push(Self { frame, repeat }),
        }
    }

    /// Returns the entry with its frame's new id. `ids` has the new ids in the order of the old.
    #[must_use]
    pub fn renamed(self, ids: &[FrameId]) -> Self {
        Self { frame: ids[self.frame.0 as usize], ..self }
    }
}

impl Labels {
    /// Labels of a stack of a foreign file, which has the thread's name at most.
    pub(crate) fn from_import(thread: &str, stack: &[StackEntry], frames: &FrameTable) -> Self {
        Self {
            process: None,
            thread: thread.into(),
            mode: Mode::from_stack(stack, frames),
            outcome: StackOutcome::Unknown,
        }
    }
}

impl Mode {
    /// Returns the mode that the innermost function shows.
    pub(crate) fn from_stack(stack: &[StackEntry], frames: &FrameTable) -> Self {
        match stack.last().map(|leaf| frames.get(leaf.frame).kind) {
            Some(FrameKind::Kernel) => Self::Kernel,
            _ => Self::User,
        }
    }
}

/// Samples with distinct stacks or labels.
#[derive(Debug, Default)]
pub(crate) struct SampleSum {
    samples: Vec<Sample>,
    places: HashMap<(Vec<StackEntry>, Labels), usize>,
}

impl SampleSum {
    /// Adds a sample to the one with the same stack and labels.
    pub(crate) fn add(&mut self, sample: Sample) {
        match self.places.entry((sample.stack.clone(), sample.labels.clone())) {
            Entry::Vacant(new) => {
                new.insert(self.samples.len());
                self.samples.push(sample);
            }
            Entry::Occupied(place) => {
                let same = &mut self.samples[*place.get()];
                same.weight += sample.weight;
                same.count += sample.count;
                same.times.add_all(&sample.times);
            }
        }
    }

    /// Number of distinct samples.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns the samples in order of their appearance.
    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }

    /// Returns the samples by stack and labels.
    pub(crate) fn into_sorted(self) -> Vec<Sample> {
        let mut samples = self.samples;
        sort(&mut samples);
        samples
    }
}

/// Sorts samples by stack and labels.
pub(super) fn sort(samples: &mut [Sample]) {
    samples.sort_by(|a, b| (&a.stack, &a.labels).cmp(&(&b.stack, &b.labels)));
}
