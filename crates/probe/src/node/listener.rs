//! Finds the Erlang node of this machine that listens on an address, by the kernel's socket tables and the
//! node's open files, so that a forwarded port is not mistaken for a local broker.

use std::{
    fs,
    net::{IpAddr, ToSocketAddrs, UdpSocket},
};

use super::{
    find::list_nodes,
    sockets::{holds_socket, sockets_of},
};
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Pid of the Erlang node of this machine that listens on `host:port`; `None` when the address is
/// another machine's, or when the listener is no Erlang node or may not be read.
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

/// Whether the address is one of this machine: only those can be bound.
pub fn is_local_address(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// TCP ports on which the VM `pid` listens, in order: those of its own network, also when that is a container's. Fails
/// without reading anything when the process is no VM.
pub fn listening_ports(pid: u32) -> Result<Vec<u16>, ProbeError> {
    let own = sockets_of(pid)?;
    let listeners = {
        // Processes of other users may be hidden (`hidepid` of proc(5)).
        let _raised = raise(NODE);
        listeners_in(&format!("/proc/{pid}/net"))
    };
    let held = listeners.into_iter().filter(|(_, inode)| own.contains(inode));
    let mut ports: Vec<u16> = held.map(|(port, _)| port).collect();
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// Inodes of the TCP sockets that listen on `port`.
fn listening_on(port: u16) -> Vec<u64> {
    let listeners = listeners_in("/proc/net").into_iter();
    listeners.filter(|&(own, _)| own == port).map(|(_, inode)| inode).collect()
}

/// Port and inode of every TCP socket that listens, from the tables of a network.
fn listeners_in(directory: &str) -> Vec<(u16, u64)> {
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("{directory}/{name}")));
    tables.iter().flatten().flat_map(|table| table.lines()).filter_map(listener).collect()
}

/// A line of `proc_net_tcp(5)`: local address in field 1, state in field 3 (`0A` listens), inode in
/// field 9, from 0.
fn listener(line: &str) -> Option<(u16, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (_, port) = fields.get(1)?.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (*fields.get(3)? == "0A").then(|| Some((port, fields.get(9)?.parse().ok()?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "   0: 0100007F:1628 00000000:0000 0A 00000000:00000000 00:00000000 \
                        00000000     0        0 4711 1 0000000000000000 100 0 0 10 0";

    #[test]
    fn a_listening_socket() {
        assert_eq!(listener(LINE), Some((5672, 4711)));
        assert_eq!(listener(&LINE.replace(" 0A ", " 01 ")), None);
        assert_eq!(listener("sl local_address rem_address st"), None);
    }
}
