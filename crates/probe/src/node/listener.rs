//! Finds the Erlang node of this machine that listens on an address, by the kernel's socket tables and the
//! node's open files, so that a forwarded port is not mistaken for a local broker.

use std::{
    fs,
    net::{IpAddr, ToSocketAddrs, UdpSocket},
};

use super::{holds_socket, list_nodes};

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

/// Inodes of the TCP sockets that listen on `port`.
fn listening_on(port: u16) -> Vec<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    tables
        .iter()
        .flatten()
        .flat_map(|table| table.lines())
        .filter_map(|line| listening_inode(line, port))
        .collect()
}

/// A line of `proc_net_tcp(5)`: local address in field 1, state in field 3 (`0A` listens), inode in
/// field 9, from 0.
fn listening_inode(line: &str, port: u16) -> Option<u64> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
    let listens = *fields.get(3)? == "0A" && u16::from_str_radix(local_port, 16) == Ok(port);
    listens.then(|| fields.get(9)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "   0: 0100007F:1628 00000000:0000 0A 00000000:00000000 00:00000000 \
                        00000000     0        0 4711 1 0000000000000000 100 0 0 10 0";

    #[test]
    fn a_listening_socket() {
        assert_eq!(listening_inode(LINE, 5672), Some(4711));
        assert_eq!(listening_inode(LINE, 5671), None);
        assert_eq!(listening_inode(&LINE.replace(" 0A ", " 01 "), 5672), None);
    }
}
