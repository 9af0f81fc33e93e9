//! Distinct stacks as a tree with common outer parts: a stack that differs from others only in its last frames
//! takes memory only for those. A long recording has many such stacks, with the same Erlang calls and another place
//! in the kernel.

use rabbitscope_profiles::{FrameId, StackEntry};
use rustc_hash::FxHashMap;

/// A stack in [`Stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

/// The stack without frames.
pub(super) const EMPTY: StackId = StackId(u32::MAX);

/// All distinct stacks of a recording.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    nodes: Vec<Node>,
    index: FxHashMap<(StackId, StackEntry), StackId>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    outer: StackId,
    entry: StackEntry,
    /// Number of entries of the stack.
    depth: u32,
}

impl Stacks {
    /// The stack `outer` with one more entry at its inner end. Equal neighbours become one entry.
    pub(super) fn push(&mut self, outer: StackId, frame: FrameId, repeat: u32) -> StackId {
        match self.node(outer) {
            Some(Node { outer: before, entry: last, .. }) if last.frame == frame => {
                self.intern(before, StackEntry { frame, repeat: last.repeat + repeat })
            }
            _ => self.intern(outer, StackEntry { frame, repeat }),
        }
    }

    /// Drops all stacks, but keeps their memory for as many new ones.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.index.clear();
    }

    /// Number of entries of all stacks. A common part counts once.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn node(&self, stack: StackId) -> Option<Node> {
        self.nodes.get(stack.0 as usize).copied()
    }

    fn depth(&self, stack: StackId) -> u32 {
        self.node(stack).map_or(0, |node| node.depth)
    }

    fn intern(&mut self, outer: StackId, entry: StackEntry) -> StackId {
        let next = u32::try_from(self.nodes.len()).expect("fewer than 2^32 stacks");
        let depth = self.depth(outer) + 1;
        let nodes = &mut self.nodes;
        *self.index.entry((outer, entry)).or_insert_with(|| {
            nodes.push(Node { outer, entry, depth });
            StackId(next)
        })
    }

    /// The entries of `stack`, root first.
    pub(super) fn entries(&self, stack: StackId) -> Vec<StackEntry> {
        let mut entries = Vec::with_capacity(self.depth(stack) as usize);
        let mut at = stack;
        while let Some(Node { outer, entry, .. }) = self.node(at) {
            entries.push(entry);
            at = outer;
        }
        entries.reverse();
        entries
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::FrameId;

    use super::{EMPTY, StackId, Stacks};

    fn stack(stacks: &mut Stacks, frames: &[(u32, u32)]) -> StackId {
        frames
            .iter()
            .fold(EMPTY, |outer, &(frame, repeat)| stacks.push(outer, FrameId(frame), repeat))
    }

    fn check(frames: &[(u32, u32)], expected: &[(u32, u32)]) {
        let mut stacks = Stacks::default();
        let id = stack(&mut stacks, frames);
        let found: Vec<(u32, u32)> =
            stacks.entries(id).iter().map(|entry| (entry.frame.0, entry.repeat)).collect();
        assert_eq!(found, expected);
        assert_eq!(stacks.depth(id) as usize, expected.len());
    }

    #[test]
    fn equal_neighbours_are_counted() {
        check(&[(1, 1), (2, 30), (2, 1), (3, 1)], &[(1, 1), (2, 31), (3, 1)]);
        check(&[], &[]);
    }

    #[test]
    fn equal_stacks_have_one_id_and_share_their_outer_parts() {
        let mut stacks = Stacks::default();
        let first = stack(&mut stacks, &[(1, 1), (2, 1), (3, 1)]);
        assert_eq!(stack(&mut stacks, &[(1, 1), (2, 1), (3, 1)]), first);
        assert_ne!(stack(&mut stacks, &[(1, 1), (2, 1), (4, 1)]), first);
        assert_eq!(stacks.nodes.len(), 4);
    }
}
