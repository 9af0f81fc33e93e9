//! Options for a connection to a node of this machine.

use std::sync::Arc;

use rabbitscope_broker::Broker;
use rabbitscope_erlang::{ConnectOptions, CookieSource, NodeName, Port, VerifyPeer};

use crate::{InsideError, peer::expected_node};

/// Returns options for a connection to the node with this process. A throwaway broker has its own cookie and a known
/// port.
pub fn local_node(pid: u32, throwaway: Option<&Broker>) -> Result<ConnectOptions, InsideError> {
    let verify: Option<Arc<dyn VerifyPeer>> = Some(Arc::new(expected_node(Some(pid), false)));
    if let Some(broker) = throwaway {
        let (home, address) = broker.distribution();
        return Ok(ConnectOptions {
            cookie: CookieSource::File(home.join(".erlang.cookie")),
            port: Port::At(address),
            verify,
            ..ConnectOptions::new(NodeName::parse(&broker.node_name())?)
        });
    }
    let node = rabbitscope_probe::list_nodes()?.into_iter().find(|node| node.pid == pid);
    let name = node.and_then(|node| node.name).ok_or(InsideError::Nameless)?;
    Ok(ConnectOptions { verify, ..ConnectOptions::new(NodeName::parse(&name)?) })
}
