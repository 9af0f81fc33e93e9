//! Counting stacks as they come in a file: equal bytes are counted, and only what is distinct is
//! looked at. What lives here knows no format.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasherDefault, Hasher},
};

use super::{
    Capture, FrameTable, Identities, Labels, Mode, Profile, Sample, StackEntry, StackOutcome,
    StackQuality, ThreadKind, Times, TooLarge,
    budget::Budget,
    model::{Frame, FrameId, FrameKind},
    perf_events::Chosen,
};

/// Distinct runs of bytes that are kept before they are named. Stacks that differ in addresses
/// only become one when they are.
const MAX_UNNAMED: usize = 200_000;

/// Bytes of those. With 127 frames each, the kernel's usual limit, so many would take 200 MB.
const MAX_UNNAMED_BYTES: usize = 64 << 20;

/// Longest name of a function or a thread that is believed.
const MAX_NAME_BYTES: usize = 64 << 10;

/// What is counted for one stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) weight: u64,
    pub(super) count: u64,
}

impl Counted {
    /// Adds what must not wrap around; a sum that large says nothing any more.
    pub(super) fn add(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Equal runs of bytes, counted.
#[derive(Debug, Default)]
pub(super) struct StackCounts {
    index: HashMap<Box<[u8]>, Counted, BuildHasherDefault<WordHasher>>,
    /// Of the runs together.
    held_bytes: usize,
}

impl StackCounts {
    /// Counts one occurrence of `bytes`.
    pub(super) fn add(&mut self, bytes: &[u8], counted: Counted) {
        if let Some(known) = self.index.get_mut(bytes) {
            known.add(counted);
            return;
        }
        self.held_bytes += bytes.len();
        self.index.insert(bytes.into(), counted);
    }

    /// True when it is time to name what was counted, so that memory stays bounded.
    pub(super) fn is_full(&self) -> bool {
        self.index.len() >= MAX_UNNAMED || self.held_bytes >= MAX_UNNAMED_BYTES
    }

    /// All that was counted, in no order. Nothing is left.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Box<[u8]>, Counted)> + '_ {
        self.held_bytes = 0;
        self.index.drain()
    }
}

/// Takes eight bytes at a time: stacks are long, and a file may hold many millions.
#[derive(Default)]
pub(super) struct WordHasher(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(FACTOR);
        self.0 ^= self.0 >> 29;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(FACTOR)
    }
}

/// Named stacks of an import, merged.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) frames: FrameTable,
    /// By the number of the event, stack and labels.
    samples: HashMap<(usize, Vec<StackEntry>, Labels), Counted>,
    /// Weight of all samples together.
    total: u64,
    budget: Budget,
}

impl Merged {
    /// Nothing yet, with what all may take.
    pub(super) fn within(limit_bytes: u64) -> Self {
        Self { budget: Budget::new(limit_bytes), ..Self::default() }
    }

    /// The id of a frame. A name that is longer than any real one is cut.
    pub(super) fn intern(&mut self, mut frame: Frame) -> Result<FrameId, TooLarge> {
        if frame.name.len() > MAX_NAME_BYTES {
            let end = (0..=MAX_NAME_BYTES).rev().find(|&end| frame.name.is_char_boundary(end));
            frame.name.truncate(end.unwrap_or(0));
        }
        let (before, length) = (self.frames.len(), frame.name.len());
        let id = self.frames.intern(frame);
        if self.frames.len() > before {
            // Once in the table and once in its index.
            self.budget.spend_on::<[Frame; 2]>(2 * length)?;
        }
        Ok(id)
    }

    /// The root of a stack: the kind of thread, or the name of one that is none of the VM's.
    pub(super) fn root(&mut self, thread: &str) -> Result<FrameId, TooLarge> {
        let frame = match ThreadKind::from_name(thread).0 {
            ThreadKind::Other if !is_of_the_vm(thread) => {
                Frame { name: thread.to_owned(), kind: FrameKind::Native }
            }
            kind => Frame { name: kind.name().to_owned(), kind: FrameKind::Thread },
        };
        self.intern(frame)
    }

    /// Adds a stack of an event, root first, of the thread that is called `thread`. All weights together stay
    /// within 64 bits, as every sum that is made of them later relies on; what is beyond is left out.
    pub(super) fn add(
        &mut self,
        event: usize,
        thread: &str,
        frames: &[FrameId],
        counted: Counted,
    ) -> Result<(), TooLarge> {
        let mut stack: Vec<StackEntry> = Vec::with_capacity(frames.len());
        for &frame in frames {
            match stack.last_mut() {
                Some(last) if last.frame == frame => last.repeat += 1,
                _ => stack.push(StackEntry { frame, repeat: 1 }),
            }
        }
        let Some(leaf) = stack.last() else { return Ok(()) };
        let in_kernel = self.frames.get(leaf.frame).kind == FrameKind::Kernel;
        let labels = Labels {
            process: None,
            thread: thread.into(),
            mode: if in_kernel { Mode::Kernel } else { Mode::User },
            outcome: StackOutcome::Unknown,
        };
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

    /// The profile of the chosen events, samples in order.
    pub(super) fn into_profile(self, chosen: &Chosen, capture: Capture, lost: u64) -> Profile {
        let mut frames = FrameTable::default();
        let mut kept: HashMap<FrameId, FrameId> = HashMap::new();
        let mut counted: HashMap<(Vec<StackEntry>, Labels), Counted> = HashMap::new();
        let is_chosen = |((event, ..), _): &((usize, _, _), _)| chosen.events.contains(event);
        let mut taken: Vec<_> = self.samples.into_iter().filter(is_chosen).collect();
        // In an order, so that frames have the same numbers each time.
        taken.sort_by(|(one, _), (other, _)| one.cmp(other));
        for ((_, mut stack, labels), count) in taken {
            // Events that were left out leave no function behind.
            for StackEntry { frame, .. } in &mut stack {
                let known = kept.entry(*frame);
                *frame = *known.or_insert_with(|| frames.intern(self.frames.get(*frame).clone()));
            }
            counted.entry((stack, labels)).or_default().add(count);
        }
        let sample = |((stack, labels), Counted { weight, count }): (_, Counted)| {
            // Events that have no weight of their own happened as often as they weigh.
            let weight = if chosen.counts_samples { count } else { weight };
            let times = Times::default();
            Sample { stack, labels, weight, count, times }
        };
        let mut samples: Vec<Sample> = counted.into_iter().map(sample).collect();
        samples.sort_by(|a, b| (&a.stack, &a.labels).cmp(&(&b.stack, &b.labels)));
        let event = chosen.event;
        let quality = StackQuality { lost, ..StackQuality::default() };
        Profile {
            event,
            capture,
            quality,
            frames,
            samples,
            identities: Identities::default(),
            lines: Vec::new(),
        }
    }
}

/// Threads of the VM that have a name of their own but no kind.
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
