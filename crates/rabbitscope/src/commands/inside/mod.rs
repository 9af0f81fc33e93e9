//! Commands that look into a node, and what they have in common.

pub(super) mod calltree;
pub(super) mod functions;
mod node;
pub(super) mod queues;
pub(super) mod top;
pub(super) mod trace;
mod who;

pub(super) use node::NodeArguments;
