//! The nodes of an existing broker, as far as they run on this machine.

use rabbitscope_amqp::Uri;
use rabbitscope_runs::record::ClusterNode;

/// The nodes at the addresses of a broker.
#[derive(Debug, Default)]
pub(super) struct FoundNodes {
    /// Nodes on this machine, each once and named by address. The one for the first address comes first.
    pub(super) local: Vec<ClusterNode>,
    /// Addresses at which no node of this machine was found.
    pub(super) unseen: Vec<String>,
}

impl FoundNodes {
    /// Looks for the node at each address.
    pub(super) fn find(first: &Uri, uris: &[String]) -> anyhow::Result<Self> {
        let others = uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<Vec<_>, _>>()?;
        let mut found = Self::default();
        for uri in [first].into_iter().chain(&others) {
            let name = uri.address();
            match rabbitscope_probe::local_node_at(&uri.host, uri.port) {
                Some(pid) if found.local.iter().any(|node| node.pid == pid) => {}
                Some(pid) => found.local.push(ClusterNode { name, pid, ..ClusterNode::default() }),
                None if found.unseen.contains(&name) => {}
                None => found.unseen.push(name),
            }
        }
        Ok(found)
    }

    /// Returns all nodes if there are several and all run on this machine, otherwise none.
    pub(super) fn cluster(&self) -> Vec<ClusterNode> {
        let is_cluster = self.unseen.is_empty() && self.local.len() > 1;
        if is_cluster { self.local.clone() } else { Vec::new() }
    }
}
