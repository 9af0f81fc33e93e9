//! The nodes of a broker that was there, as far as they run on this machine.

use rabbitscope_amqp::Uri;
use rabbitscope_runs::record::ClusterNode;

/// The nodes to which the addresses of a broker lead.
#[derive(Debug, Default)]
pub(super) struct FoundNodes {
    /// On this machine, by address, each once; first the one that is asked first.
    pub(super) local: Vec<ClusterNode>,
    /// Addresses behind which no node of this machine is seen.
    pub(super) unseen: Vec<String>,
}

impl FoundNodes {
    /// Looks for the node at each of the addresses.
    pub(super) fn of(first: &Uri, uris: &[String]) -> anyhow::Result<Self> {
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

    /// All of them, when they are several and on this machine.
    pub(super) fn cluster(&self) -> Vec<ClusterNode> {
        let is_cluster = self.unseen.is_empty() && self.local.len() > 1;
        if is_cluster { self.local.clone() } else { Vec::new() }
    }
}
