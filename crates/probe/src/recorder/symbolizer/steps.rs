//! Steps of stacks that were built before: an address on top of a stack leads to the same stack with the same frame
//! as the last time. Most frames of a sample are known steps, and take one look-up here in place of those of the
//! name and of the stack.
//!
//! The table is too large for the CPU's caches, and an otherwise busy machine uses it for some milliseconds per
//! second. The cost of a look-up is therefore the memory that it touches. A step and its outcome take 32 bytes
//! together, so that they are in one cache line.

use rabbitscope_profiles::FrameId;
use rustc_hash::FxHashMap;

use super::{
    frames::{AddressKind, NamedFrame},
    stacks::StackId,
};
use crate::beam::SourceLine;

/// An address on top of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    address: u64,
    outer: StackId,
    /// Number of consecutive activations, with the kind of address in the lowest bits.
    repeat_and_kind: u32,
}

/// Number of bits for the kind of address.
const KIND_BITS: u32 = 3;

impl Step {
    pub(super) fn new(address: u64, outer: StackId, kind: AddressKind, repeat: u32) -> Self {
        Self { address, outer, repeat_and_kind: repeat << KIND_BITS | kind as u32 }
    }

    /// Number of consecutive activations.
    pub(super) fn repeat(self) -> u32 {
        self.repeat_and_kind >> KIND_BITS
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) stack: StackId,
    pub(super) frame: FrameId,
    /// True if the frame has a symbol.
    pub(super) is_symbolized: bool,
    /// True if the frame is an Erlang function.
    pub(super) is_function: bool,
    /// Source line of an Erlang function.
    pub(super) line: Option<SourceLine>,
}

impl Outcome {
    pub(super) fn new(stack: StackId, frame: NamedFrame, is_function: bool) -> Self {
        let NamedFrame { id, is_symbolized, line, is_lasting: _ } = frame;
        Self { stack, frame: id, is_symbolized, is_function, line }
    }
}

/// An outcome in its stored form.
#[derive(Clone, Copy, Debug)]
struct Kept {
    stack: StackId,
    frame: FrameId,
    /// One more than the index among the lines; 0: none.
    line: u32,
    is_symbolized: bool,
    is_function: bool,
}

const _: () = assert!(size_of::<(Step, Kept)>() == 32, "two to a cache line");

/// Limit of steps, beyond which all are dropped: 1 MiB, and 256 KiB of lines. Chosen.
const MAX_STEPS: usize = 28_000;

/// The steps of a window. They are valid as long as the stacks and the names of addresses.
#[derive(Debug, Default)]
pub(super) struct Steps {
    known: FxHashMap<Step, Kept>,
    lines: Vec<SourceLine>,
}

impl Steps {
    pub(super) fn get(&self, step: Step) -> Option<Outcome> {
        let &Kept { stack, frame, line, is_symbolized, is_function } = self.known.get(&step)?;
        let line = line.checked_sub(1).map(|index| self.lines[index as usize]);
        Some(Outcome { stack, frame, is_symbolized, is_function, line })
    }

    pub(super) fn insert(&mut self, step: Step, outcome: Outcome) {
        if self.known.len() >= MAX_STEPS {
            self.clear();
        }
        let Outcome { stack, frame, is_symbolized, is_function, line } = outcome;
        self.lines.extend(line);
        let line = line.map_or(0, |_| u32::try_from(self.lines.len()).expect("few lines"));
        self.known.insert(step, Kept { stack, frame, line, is_symbolized, is_function });
    }

    /// Drops all steps, but keeps their memory for as many new ones.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::FrameId;

    use super::{MAX_STEPS, Outcome, Step, Steps};
    use crate::{
        beam::SourceLine,
        recorder::symbolizer::{frames::AddressKind, stacks::EMPTY},
    };

    fn step(address: u64, kind: AddressKind, repeat: u32) -> Step {
        Step::new(address, EMPTY, kind, repeat)
    }

    fn outcome(frame: u32, line: Option<u32>) -> Outcome {
        Outcome {
            stack: EMPTY,
            frame: FrameId(frame),
            is_symbolized: frame.is_multiple_of(2),
            is_function: line.is_some(),
            line: line.map(|number| SourceLine { file: 0, number }),
        }
    }

    #[test]
    fn a_step_leads_where_it_led_before() {
        use AddressKind::{JitReturn, Kernel, NativeReturn};
        let mut steps = Steps::default();
        let all = [
            (step(7, JitReturn, 1), outcome(1, Some(10))),
            (step(7, JitReturn, 65_536), outcome(2, Some(20))),
            (step(7, NativeReturn, 1), outcome(3, None)),
            (step(u64::MAX, Kernel, 1), outcome(4, None)),
            (step(8, JitReturn, 1), outcome(5, Some(30))),
        ];
        for (step, outcome) in all {
            assert_eq!(steps.get(step), None);
            steps.insert(step, outcome);
        }
        for (step, outcome) in all {
            assert_eq!(steps.get(step), Some(outcome));
        }
        assert_eq!(all.map(|(step, _)| step.repeat()), [1, 65_536, 1, 1, 1]);
        steps.clear();
        assert_eq!(steps.get(all[0].0), None);
    }

    #[test]
    fn there_are_not_too_many() {
        let mut steps = Steps::default();
        for address in 0..=MAX_STEPS as u64 {
            steps.insert(step(address, AddressKind::JitReturn, 1), outcome(0, Some(1)));
        }
        assert_eq!((steps.known.len(), steps.lines.len()), (1, 1));
    }
}
