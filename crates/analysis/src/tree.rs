//! Stack trees: a profile's stacks, merged by their common roots.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_profiles::{FrameClass, FrameId, FrameTable, Profile, StackEntry};

/// The display of functions that call themselves directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// A run of activations is one node. Runs of different length are merged, and the node keeps the longest length.
    Folded,
    /// A run of activations is one node, and runs of different length are different nodes. Both other trees follow from
    /// this one without the samples.
    ByLength,
    /// Each activation is a node of its own.
    Open,
}

/// Index into [`StackTree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A function in one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// The caller; absent for a root.
    pub parent: Option<NodeId>,
    /// The function.
    pub frame: FrameId,
    /// Length of the longest run of activations that this node represents, at least 1.
    pub repeat: u32,
    /// Number of ancestors.
    pub depth: u32,
    /// Weight of the stacks that end here.
    pub self_weight: u64,
    /// Weight of the stacks that end here or below.
    pub total: u64,
}

/// The merged stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackTree {
    /// Nodes in pre-order: a node comes after its parent. Siblings are ordered by the largest total, then by name.
    pub nodes: Vec<TreeNode>,
}

impl StackTree {
    /// Merges the stacks of `profile`.
    pub fn build(profile: &Profile, recursion: Recursion) -> Self {
        Self::with_leaves(profile, recursion).0
    }

    /// Like [`Self::build`], with the node at the end of each sample's stack; none for an empty stack.
    pub fn with_leaves(profile: &Profile, recursion: Recursion) -> (Self, Vec<Option<NodeId>>) {
        let stacks = profile.samples.iter().map(|sample| (&sample.stack[..], sample.weight));
        Self::merge(stacks, &profile.frames, recursion)
    }

    /// Returns the class of each node's frame in its place; `frames` has the names that the nodes refer to.
    pub fn classes(&self, frames: &FrameTable) -> Vec<FrameClass> {
        let mut classes: Vec<FrameClass> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let own = FrameClass::of(frames.get(node.frame));
            let class =
                node.parent.map_or(own, |NodeId(parent)| own.below(classes[parent as usize]));
            classes.push(class);
        }
        classes
    }

    /// Like [`Self::with_leaves`], for stacks with their weights; `frames` has the names that they refer to.
    pub(crate) fn merge<'a>(
        stacks: impl Iterator<Item = (&'a [StackEntry], u64)>,
        frames: &FrameTable,
        recursion: Recursion,
    ) -> (Self, Vec<Option<NodeId>>) {
        let mut builder = Builder { recursion, nodes: Vec::new(), children: HashMap::new() };
        let leaves: Vec<Option<NodeId>> =
            stacks.map(|(stack, weight)| builder.add(stack, weight)).collect();
        builder.sum_up();
        let (nodes, places) = in_pre_order(&builder.nodes, frames);
        let leaves =
            leaves.into_iter().map(|leaf| leaf.map(|NodeId(index)| places[index as usize]));
        (Self { nodes }, leaves.collect())
    }
}

struct Builder {
    recursion: Recursion,
    /// Nodes, parents before their children.
    nodes: Vec<TreeNode>,
    children: HashMap<(Option<NodeId>, StackEntry), NodeId>,
}

impl Builder {
    fn add(&mut self, stack: &[StackEntry], weight: u64) -> Option<NodeId> {
        let mut node = None;
        for run in runs(stack) {
            let steps = if self.recursion == Recursion::Open { run.repeat } else { 1 };
            for _ in 0..steps {
                node = Some(self.child(node, run));
            }
        }
        if let Some(NodeId(leaf)) = node {
            self.nodes[leaf as usize].self_weight += weight;
        }
        node
    }

    fn child(&mut self, parent: Option<NodeId>, run: StackEntry) -> NodeId {
        let repeat = if self.recursion == Recursion::Open { 1 } else { run.repeat };
        let told_apart_by = if self.recursion == Recursion::ByLength { repeat } else { 1 };
        let key = (parent, StackEntry { frame: run.frame, repeat: told_apart_by });
        let next = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        let id = *self.children.entry(key).or_insert(next);
        if id == next {
            let depth = parent.map_or(0, |NodeId(above)| self.nodes[above as usize].depth + 1);
            let frame = run.frame;
            self.nodes.push(TreeNode { parent, frame, repeat, depth, self_weight: 0, total: 0 });
        }
        let node = &mut self.nodes[id.0 as usize];
        node.repeat = node.repeat.max(repeat);
        id
    }

    fn sum_up(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            self.nodes[index].total += self.nodes[index].self_weight;
            let TreeNode { parent, total, .. } = self.nodes[index];
            if let Some(NodeId(above)) = parent {
                self.nodes[above as usize].total += total;
            }
        }
    }
}

/// Returns the runs of a stack, with neighbours of the same function joined.
fn runs(stack: &[StackEntry]) -> impl Iterator<Item = StackEntry> {
    stack.chunk_by(|left, right| left.frame == right.frame).map(|run| StackEntry {
        frame: run[0].frame,
        repeat: run.iter().fold(0, |sum, entry| sum.saturating_add(entry.repeat)),
    })
}

/// Returns the nodes in pre-order, and for each old index the new one.
fn in_pre_order(nodes: &[TreeNode], frames: &FrameTable) -> (Vec<TreeNode>, Vec<NodeId>) {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(NodeId(parent)) => children[parent as usize].push(index),
            None => roots.push(index),
        }
    }
    let heaviest_last = |siblings: &mut Vec<usize>| {
        siblings.sort_by_key(|&index| {
            let node = &nodes[index];
            Reverse((Reverse(node.total), &frames.get(node.frame).name, node.frame, node.repeat))
        });
    };
    heaviest_last(&mut roots);
    children.iter_mut().for_each(heaviest_last);

    let mut ordered = Vec::with_capacity(nodes.len());
    let mut places = vec![NodeId(0); nodes.len()];
    let mut waiting: Vec<(Option<NodeId>, usize)> =
        roots.into_iter().map(|root| (None, root)).collect();
    while let Some((parent, index)) = waiting.pop() {
        let id = NodeId(u32::try_from(ordered.len()).expect("as many nodes as before"));
        ordered.push(TreeNode { parent, ..nodes[index] });
        places[index] = id;
        waiting.extend(children[index].iter().map(|&child| (Some(id), child)));
    }
    (ordered, places)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use rabbitscope_profiles::read_folded;

    use super::*;

    /// Formats one line per node: depth as dots, name, run, self weight and total.
    fn check(folded: &str, recursion: Recursion, expected: &str) {
        let profile = read_folded(folded.as_bytes()).unwrap();
        let tree = StackTree::build(&profile, recursion);
        let mut text = String::new();
        for node in &tree.nodes {
            let name = &profile.frames.get(node.frame).name;
            let dots = ".".repeat(node.depth as usize);
            let TreeNode { repeat, self_weight, total, .. } = node;
            writeln!(text, "{dots}{name}*{repeat} {self_weight}/{total}").unwrap();
        }
        assert_eq!(text.trim_end(), expected);
        for (index, node) in tree.nodes.iter().enumerate() {
            assert!(node.parent.is_none_or(|parent| (parent.0 as usize) < index));
        }
    }

    const RECURSIVE: &str = "a;f;f;f;g 5\na;f;g 2\na;f 1\nb 3";

    #[test]
    fn runs_are_folded() {
        check(RECURSIVE, Recursion::Folded, "a*1 0/8\n.f*3 1/8\n..g*1 7/7\nb*1 3/3");
    }

    #[test]
    fn runs_are_told_apart_by_length() {
        let expected = "a*1 0/8\n.f*3 0/5\n..g*1 5/5\n.f*1 1/3\n..g*1 2/2\nb*1 3/3";
        check(RECURSIVE, Recursion::ByLength, expected);
    }

    #[test]
    fn runs_are_opened() {
        let expected = "a*1 0/8\n.f*1 1/8\n..f*1 0/5\n...f*1 0/5\n....g*1 5/5\n..g*1 2/2\nb*1 3/3";
        check(RECURSIVE, Recursion::Open, expected);
    }

    #[test]
    fn siblings_stand_by_weight_then_by_name() {
        check("r;b 1\nr;c 2\nr;a 1", Recursion::Folded, "r*1 0/4\n.c*1 2/2\n.a*1 1/1\n.b*1 1/1");
    }

    #[test]
    fn nothing_makes_an_empty_tree() {
        check("", Recursion::Folded, "");
    }

    #[test]
    fn a_very_deep_stack_needs_no_deep_call_stack() {
        let line = (0..50_000).map(|n| format!("f{n}")).collect::<Vec<_>>().join(";") + " 1";
        let profile = read_folded(line.as_bytes()).unwrap();
        assert_eq!(StackTree::build(&profile, Recursion::Folded).nodes.len(), 50_000);
    }
}
