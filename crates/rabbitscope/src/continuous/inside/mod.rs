//! Asks the nodes themselves, where the configuration allows it: whose processes are in a window ([`asked_node`]), and
//! the figures that become metrics. [`asked_nodes`] has a thread for each node, so that a node that does not answer
//! delays nobody; [`connecting`] says how a node is reached.

mod asked_node;
mod asked_nodes;
mod connecting;

pub(super) use asked_node::NodeReading;
pub(super) use asked_nodes::AskedNodes;
