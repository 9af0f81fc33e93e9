//! Commands that look into a node, and their shared parts.

pub(super) mod calltree;
mod cluster;
pub(super) mod functions;
pub(super) mod memory;
mod node;
pub(super) mod process;
mod queue_nodes;
pub(super) mod queues;
pub(super) mod top;
pub(super) mod trace;
mod who;

pub(super) use cluster::{ClusterArgument, ClusterProcesses, nobody};
pub(super) use node::NodeArguments;
