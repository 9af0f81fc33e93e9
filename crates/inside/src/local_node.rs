//! Options for a connection to a node of this machine.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use rabbitscope_broker::{Broker, Registry};
use rabbitscope_erlang::{ConnectOptions, CookieSource, NodeName, Port, VerifyPeer};

use crate::{InsideError, container::in_container, peer::expected_node};

/// Returns options for a connection to the node with this process. A throwaway broker has its own cookie and a known
/// port, also one of `rabbitscope broker start`.
pub fn local_node(pid: u32, throwaway: Option<&Broker>) -> Result<ConnectOptions, InsideError> {
    let verify: Option<Arc<dyn VerifyPeer>> = Some(Arc::new(expected_node(Some(pid), false)));
    let own = throwaway.map(|broker| (broker.node_name(), broker.distribution()));
    if let Some((name, (home, address))) = own.or_else(|| started(pid)) {
        return Ok(ConnectOptions {
            cookie: CookieSource::File(home.join(".erlang.cookie")),
            port: Port::At(address),
            verify,
            ..ConnectOptions::new(NodeName::parse(&name)?)
        });
    }
    let node = rabbitscope_probe::list_nodes()?.into_iter().find(|node| node.pid == pid);
    let name = node.and_then(|node| node.name).ok_or(InsideError::Nameless)?;
    let options = ConnectOptions { verify, ..ConnectOptions::new(NodeName::parse(&name)?) };
    Ok(in_container(pid, options))
}

/// Returns name, home and address of a node that rabbitscope started.
fn started(pid: u32) -> Option<(String, (PathBuf, SocketAddr))> {
    let running = Registry::open().and_then(|registry| registry.running()).ok()?;
    let node = running.into_iter().find(|node| node.pid == pid)?;
    Some((node.node_name(), node.distribution()))
}
