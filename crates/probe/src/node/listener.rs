//! Finds the Erlang node of this machine that listens on an address, by the kernel's socket tables and the node's
//! open files. So a forwarded port is not mistaken for a local broker.

use std::net::{IpAddr, ToSocketAddrs};

use rabbitscope_machine::sockets::{
    connections_beside, is_local_address, listeners, listeners_beside,
};

use super::{
    find::list_nodes,
    sockets::{holds_socket, sockets_of},
};
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Pid of the Erlang node of this machine that listens on `host:port`. `None` if the address is another machine's,
/// or if the listener is no Erlang node or is unreadable.
pub fn local_node_at(host: &str, port: u16) -> Option<u32> {
    let addresses: Vec<IpAddr> =
        (host, port).to_socket_addrs().ok()?.map(|address| address.ip()).collect();
    if !addresses.into_iter().any(is_local_address) {
        return None;
    }
    let sockets = listening_on(port);
    let nodes = list_nodes().ok()?;
    let holds = |&pid: &u32| holds_socket(pid, &sockets).unwrap_or(false);
    nodes.into_iter().map(|node| node.pid).find(holds)
}

/// TCP ports on which the VM `pid` listens, in order: those of its own network, which may be a container's. Fails
/// without reading anything if the process is no VM.
pub fn listening_ports(pid: u32) -> Result<Vec<u16>, ProbeError> {
    let own = sockets_of(pid)?;
    let listeners = {
        // Processes of other users may be hidden (`hidepid` of proc(5)).
        let _raised = raise(NODE);
        listeners_beside(pid)
    };
    let held = listeners.into_iter().filter(|listener| own.contains(&listener.inode));
    let mut ports: Vec<u16> = held.map(|listener| listener.address.port()).collect();
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// TCP ports from which the VM `pid` has connected to others, at most `most`: other nodes, brokers, services. `listening`
/// are its own [`listening_ports`]. Fails without reading anything if the process is no VM.
pub fn connecting_ports(pid: u32, listening: &[u16], most: usize) -> Result<Vec<u16>, ProbeError> {
    let own = sockets_of(pid)?;
    let connections = {
        let _raised = raise(NODE);
        connections_beside(pid)
    };
    let held = connections.into_iter().filter(|connection| own.contains(&connection.inode));
    let ports = held.map(|connection| connection.address.port());
    Ok(ports.filter(|port| !listening.contains(port)).take(most).collect())
}

/// Inodes of the TCP sockets that listen on `port`.
fn listening_on(port: u16) -> Vec<u64> {
    let all = listeners().into_iter();
    all.filter(|listener| listener.address.port() == port).map(|listener| listener.inode).collect()
}
