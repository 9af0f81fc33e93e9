//! Stack trees: the stacks of a profile merged by their common roots.

use rabbitscope_data::profile::{FrameId, Profile};

/// How a function that calls itself directly is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// A run of activations is one node, runs of different length are merged, and the node
    /// remembers the longest.
    Folded,
    /// A run of activations is one node, runs of different length are different nodes.
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
    /// The longest run of activations that this node stands for, at least 1.
    pub repeat: u32,
    /// Number of nodes above.
    pub depth: u32,
    /// Weight of the stacks that end here.
    pub own: u64,
    /// Weight of the stacks that end here or below.
    pub total: u64,
}

/// The merged stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackTree {
    /// In pre-order: a node comes after its parent, siblings with the largest total first.
    pub nodes: Vec<TreeNode>,
}

impl StackTree {
    /// Merges the stacks of `profile`.
    pub fn build(_profile: &Profile, _recursion: Recursion) -> Self {
        Self::default()
    }
}
