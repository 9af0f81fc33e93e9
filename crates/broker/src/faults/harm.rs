//! Harm that was done to a node and must be undone.

use rabbitscope_runs::scenario::FaultKind;

/// Harm that was done to a node. The holder undoes it with [`super::NodeControl::undo`].
#[derive(Debug)]
#[must_use = "what is done to a node is to be undone"]
pub struct Harm {
    pub(super) kind: FaultKind,
    /// Index of the node among the nodes of the broker.
    pub(super) node: usize,
    /// The limit before the alarm was raised.
    pub(super) former: Option<String>,
}
