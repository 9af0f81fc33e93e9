//! Counts stacks by their bytes, independently of the format, so that only distinct ones are parsed.

use std::collections::{HashMap, hash_map::Entry};

use rustc_hash::FxHashMap;

use super::{
    Capture, FrameTable, Labels, Profile, Sample, StackEntry, StackQuality, ThreadKind, Times,
    TooLarge,
    budget::Budget,
    model::{Frame, FrameId, FrameKind, SampleSum},
    perf_events::Chosen,
};

/// Limit of distinct stacks before they are named. Naming merges stacks that differ in addresses only.
const MAX_UNNAMED: usize = 200_000;

/// Size limit of distinct stacks. With 127 frames each, the kernel's usual limit, [`MAX_UNNAMED`] stacks would take 200
/// MB.
const MAX_UNNAMED_BYTES: usize = 64 << 20;

/// Size limit of a function's or a thread's name.
const MAX_NAME_BYTES: usize = 64 << 10;

/// The totals of one stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) weight: u64,
    pub(super) count: u64,
}

impl Counted {
    /// Adds with saturation, because a wrapped sum would mislead and one that large has no meaning.
    pub(super) fn add(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Counts of equal byte strings. Stacks are long, and a file may hold many millions, so hashing is fast.
#[derive(Debug, Default)]
pub(super) struct StackCounts {
    index: FxHashMap<Box<[u8]>, Counted>,
    /// Total size of the byte strings.
    held_bytes: usize,
}

impl StackCounts {
    /// Adds counts to `bytes`.
    pub(super) fn add(&mut self, bytes: &[u8], counted: Counted) {
        if let Some(known) = self.index.get_mut(bytes) {
            known.add(counted);
            return;
        }
        self.held_bytes += bytes.len();
        self.index.insert(bytes.into(), counted);
    }

    /// Returns whether the stacks must be named now, so that memory stays bounded.
    pub(super) fn is_full(&self) -> bool {
        self.index.len() >= MAX_UNNAMED || self.held_bytes >= MAX_UNNAMED_BYTES
    }

    /// Removes and returns all counts, in no order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Box<[u8]>, Counted)> + '_ {
        self.held_bytes = 0;
        self.index.drain()
    }
}

/// Merged named stacks of an import.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) frames: FrameTable,
    /// Counts by event number, stack and labels.
    samples: HashMap<(usize, Vec<StackEntry>, Labels), Counted>,
    /// Weight of all samples.
    total: u64,
    budget: Budget,
}

impl Merged {
    /// An empty set with a memory limit.
    pub(super) fn within(limit_bytes: u64) -> Self {
        Self { budget: Budget::new(limit_bytes), ..Self::default() }
    }

    /// Returns the id of a frame. A name beyond the size limit is cut.
    pub(super) fn intern(&mut self, mut frame: Frame) -> Result<FrameId, TooLarge> {
        if frame.name.len() > MAX_NAME_BYTES {
            let end = (0..=MAX_NAME_BYTES).rev().find(|&end| frame.name.is_char_boundary(end));
            frame.name.truncate(end.unwrap_or(0));
        }
        self.budget.intern(&mut self.frames, frame)
    }

    /// Returns the root of a stack: the kind of a VM thread, or the name of another thread.
    pub(super) fn root(&mut self, thread: &str) -> Result<FrameId, TooLarge> {
        let frame = match ThreadKind::from_name(thread).0 {
            ThreadKind::Other if !is_of_the_vm(thread) => {
                Frame { name: thread.to_owned(), kind: FrameKind::Native }
            }
            kind => Frame { name: kind.name().to_owned(), kind: FrameKind::Thread },
        };
        self.intern(frame)
    }

    /// Adds a stack of an event, root first, on the thread with this name. The sum of all weights stays within 64 bits,
    /// on which all later sums rely; the excess is dropped.
    pub(super) fn add(
        &mut self,
        event: usize,
        thread: &str,
        frames: &[FrameId],
        counted: Counted,
    ) -> Result<(), TooLarge> {
        let mut stack: Vec<StackEntry> = Vec::with_capacity(frames.len());
        for &frame in frames {
            StackEntry::push(&mut stack, frame, 1);
        }
        if stack.is_empty() {
            return Ok(());
        }
        let labels = Labels::from_import(thread, &stack, &self.frames);
        let weight = counted.weight.min(u64::MAX - self.total);
        self.total += weight;
        let counted = Counted { weight, ..counted };
        let kept = self.samples.entry((event, stack, labels));
        if let Entry::Vacant(new) = &kept {
            let (_, stack, labels) = new.key();
            self.budget.spend_on::<Sample>(size_of_val(stack.as_slice()) + labels.thread.len())?;
        }
        kept.or_default().add(counted);
        Ok(())
    }

    /// Returns the profile of the chosen events, with sorted samples.
    pub(super) fn into_profile(self, chosen: &Chosen, capture: Capture, lost: u64) -> Profile {
        let mut frames = FrameTable::default();
        let mut kept: HashMap<FrameId, FrameId> = HashMap::new();
        let mut samples = SampleSum::default();
        let is_chosen = |((event, ..), _): &((usize, _, _), _)| chosen.events.contains(event);
        let mut taken: Vec<_> = self.samples.into_iter().filter(is_chosen).collect();
        // Sorted, so that frames get the same numbers each time.
        taken.sort_by(|(one, _), (other, _)| one.cmp(other));
        for ((_, mut stack, labels), Counted { weight, count }) in taken {
            // Only functions of chosen events are kept.
            for StackEntry { frame, .. } in &mut stack {
                let known = kept.entry(*frame);
                *frame = *known.or_insert_with(|| frames.intern(self.frames.get(*frame).clone()));
            }
            // Events without a weight of their own weigh one per occurrence.
            let weight = if chosen.counts_samples { count } else { weight };
            samples.add(Sample { stack, labels, weight, count, times: Times::default() });
        }
        Profile {
            event: chosen.event,
            capture,
            quality: StackQuality { lost, ..StackQuality::default() },
            frames,
            samples: samples.into_sorted(),
            ..Profile::default()
        }
    }
}

/// Returns whether this is a VM thread with a name of its own but without a kind.
fn is_of_the_vm(thread: &str) -> bool {
    thread == "beam.smp" || thread.starts_with("sys_") || thread.starts_with("erts_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_events::PerfEvents;

    #[test]
    fn equal_bytes_are_counted_together() {
        let mut tally = StackCounts::default();
        let one = Counted { weight: 5, count: 1 };
        for bytes in [&b"a stack of some length"[..], b"another", b"a stack of some length"] {
            tally.add(bytes, one);
        }
        let mut all: Vec<_> = tally.drain().map(|(_, counted)| counted.weight).collect();
        all.sort_unstable();
        assert_eq!(all, [5, 10]);
    }

    #[test]
    fn all_weights_together_fit_into_64_bits() {
        let mut merged = Merged::default();
        for (thread, weight) in [("a", u64::MAX - 1), ("b", 5), ("c", u64::MAX)] {
            let root = merged.root(thread).unwrap();
            merged.add(0, thread, &[root], Counted { weight, count: 1 }).unwrap();
        }
        let mut events = PerfEvents::default();
        events.number_of("syscalls:sys_enter_mmap");
        events.count(0, None, 1);
        let chosen = events.choose(None).unwrap().unwrap();
        let profile = merged.into_profile(&chosen, Capture::default(), 0);
        let weights: Vec<u64> = profile.samples.iter().map(|sample| sample.weight).collect();
        assert_eq!(weights, [u64::MAX - 1, 1, 0]);
        assert_eq!(profile.total(), u64::MAX);
    }

    #[test]
    fn a_root_is_a_kind_of_thread_or_a_name() {
        let mut merged = Merged::default();
        let mut check = |thread: &str, expected: &str, kind: FrameKind| {
            let id = merged.root(thread).unwrap();
            let frame = merged.frames.get(id);
            assert_eq!((frame.name.as_str(), frame.kind), (expected, kind));
        };
        check("1_scheduler", "scheduler", FrameKind::Thread);
        check("erts_sched_12", "scheduler", FrameKind::Thread);
        check("sys_sig_dispatc", "other", FrameKind::Thread);
        check("nginx", "nginx", FrameKind::Native);
    }
}
