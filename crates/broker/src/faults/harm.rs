//! What was done to a node, and is to be undone.

use rabbitscope_runs::scenario::FaultKind;

/// What was done to a node. Whoever has it undoes it with [`super::NodeControl::undo`].
#[derive(Debug)]
#[must_use = "what is done to a node is to be undone"]
pub struct Harm {
    pub(super) kind: FaultKind,
    /// Place among the nodes of the broker.
    pub(super) node: usize,
    /// The limit that was there before an alarm was raised.
    pub(super) former: Option<String>,
}
