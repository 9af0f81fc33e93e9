//! All nodes of a cluster, found through one of them: connections, and the processes of those on this machine.

use rabbitscope_broker::Registry;
use rabbitscope_erlang::Connection;
use rabbitscope_inside::{ClusterMembers, MissingNode, cluster_members};
use rabbitscope_probe::Node as Local;

use super::node::NodeArguments;
use crate::exit::Exit;

/// The reason why a running node is not recorded.
const ELSEWHERE: &str = "it is not a process of this machine: record it on its own machine";

/// Choice between one node and its cluster.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::commands) struct ClusterArgument {
    /// Include all nodes of the node's cluster, at the same time
    #[arg(long = "cluster", conflicts_with = "dist_port")]
    pub(in crate::commands) is_wanted: bool,
}

/// The reachable nodes of a cluster.
#[derive(Debug)]
pub(in crate::commands) struct ClusterConnections {
    /// At least one.
    pub(in crate::commands) nodes: Vec<Connection>,
    pub(in crate::commands) missing: Vec<MissingNode>,
}

/// The nodes of a cluster that are processes of this machine.
#[derive(Debug)]
pub(in crate::commands) struct ClusterProcesses {
    pub(in crate::commands) local: Vec<Local>,
    pub(in crate::commands) missing: Vec<MissingNode>,
}

impl NodeArguments {
    /// Connects to every node of the cluster. Only the first must be reachable.
    pub(in crate::commands) fn connect_all(&self) -> anyhow::Result<ClusterConnections> {
        let first = self.connect()?;
        let ClusterMembers { running, down } = cluster_members(&first)?;
        let mut missing: Vec<_> = down.into_iter().map(is_down).collect();
        let own = first.node().to_owned();
        let mut nodes = vec![first];
        for node in running.into_iter().filter(|node| *node != own) {
            match self.of_member(&node).connect() {
                Ok(connection) => nodes.push(connection),
                Err(error) => missing.push(MissingNode { node, reason: format!("{error:#}") }),
            }
        }
        Ok(ClusterConnections { nodes, missing })
    }

    /// Finds the processes of the cluster's nodes.
    pub(in crate::commands) fn cluster_processes(&self) -> anyhow::Result<ClusterProcesses> {
        let connection = self.connect()?;
        let ClusterMembers { running, down } = cluster_members(&connection)?;
        let mut missing: Vec<_> = down.into_iter().map(is_down).collect();
        // If the registry is unreadable, there are no throwaway brokers.
        let ours = Registry::open().and_then(|registry| registry.running()).unwrap_or_default();
        let others = rabbitscope_probe::list_nodes()?;
        let mut local = Vec::new();
        for node in running {
            let of_ours = ours.iter().find(|ours| ours.node_name() == node).map(|ours| ours.pid);
            let named = || others.iter().find(|other| other.name.as_deref() == Some(&node));
            match of_ours.or_else(|| named().map(|other| other.pid)) {
                Some(pid) => local.push(Local { pid, name: Some(node) }),
                None => missing.push(MissingNode { node, reason: ELSEWHERE.to_owned() }),
            }
        }
        Ok(ClusterProcesses { local, missing })
    }
}

fn is_down(node: String) -> MissingNode {
    MissingNode { node, reason: "it is not running".to_owned() }
}

/// Returns the exit code of a command that has shown the other nodes.
pub(super) fn exit_without(missing: &[MissingNode]) -> Exit {
    if missing.is_empty() { Exit::Done } else { Exit::Failed }
}

/// Returns the error that no node of the cluster can be read.
pub(in crate::commands) fn nobody(missing: &[MissingNode]) -> anyhow::Error {
    let reasons: Vec<_> =
        missing.iter().map(|node| format!("{}: {}", node.node, node.reason)).collect();
    anyhow::anyhow!("no node of the cluster can be read: {}", reasons.join("; "))
}
