//! Steps of stacks that were built before: an address on top of a stack leads to the same stack with the same frame as the
//! last time. Most frames of a sample are steps that are known, and take one lookup here in place of those of the name
//! and of the stack.

use rustc_hash::FxHashMap;

use super::{
    frames::{AddressKind, NamedFrame},
    stacks::StackId,
};

/// An address that is pushed onto a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) address: u64,
    pub(super) outer: StackId,
    pub(super) kind: AddressKind,
    pub(super) repeat: u32,
}

/// What it led to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) stack: StackId,
    pub(super) frame: NamedFrame,
    /// Whether the frame is an Erlang function.
    pub(super) is_function: bool,
}

/// More steps are forgotten: 2 MiB. Chosen.
const MAX_STEPS: usize = 28_000;

/// The steps of a window. They are valid as long as the stacks, and the names of addresses.
#[derive(Debug, Default)]
pub(super) struct Steps(FxHashMap<Step, Outcome>);

impl Steps {
    pub(super) fn get(&self, step: Step) -> Option<Outcome> {
        self.0.get(&step).copied()
    }

    pub(super) fn insert(&mut self, step: Step, outcome: Outcome) {
        if self.0.len() >= MAX_STEPS {
            self.0.clear();
        }
        self.0.insert(step, outcome);
    }

    /// Forgets all steps, but keeps their memory for as many.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
