//! Requests to the nodes themselves, if the configuration allows them. [`asked_node`] obtains the owners of a window's
//! processes, and the figures that become metrics. [`asked_nodes`] has a thread for each node, so that a slow node
//! delays no other. [`connecting`] has the options of a connection.

mod asked_node;
mod asked_nodes;
mod connecting;

pub(super) use asked_node::NodeReading;
pub(super) use asked_nodes::AskedNodes;
