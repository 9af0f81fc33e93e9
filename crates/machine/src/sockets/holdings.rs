//! Sockets of a process whose open files this process may read: one of the same user, or with the right to trace it any.

use std::{
    collections::{HashMap, HashSet},
    fs,
    net::SocketAddr,
};

use super::{
    listening::listeners_beside,
    table::{TcpSocket, connections_beside},
    traced::traced_sockets,
};
use crate::namespaces::Namespace;

/// Returns true if the process holds a socket with one of these inodes. False if it has ended or may not be read.
pub fn holds_any(pid: u32, inodes: &[u64]) -> bool {
    sockets_of(pid).is_some_and(|held| inodes.iter().any(|inode| held.contains(inode)))
}

/// Returns the listeners of a process, in its own network. Empty if it has ended or may not be read.
pub fn listeners_of(pid: u32) -> Vec<TcpSocket> {
    let held = sockets_of(pid).unwrap_or_default();
    let mut found = listeners_beside(pid);
    found.retain(|listener| held.contains(&listener.inode));
    found
}

/// Returns those of `others` that have a TCP connection with the process `pid`. A process that has ended or may not be
/// read has none.
pub fn connected_with(pid: u32, others: &[u32]) -> Vec<u32> {
    // The kernel takes milliseconds for a table. Most processes have the same one.
    let mut tables = Tables::new();
    let own = connections_of(pid, &mut tables);
    let others = others.iter().copied().filter(|other| *other != pid);
    let mut is_connected = |other: &u32| {
        let theirs = connections_of(*other, &mut tables);
        theirs.into_iter().any(|(local, remote)| own.contains(&(remote, local)))
    };
    others.filter(|other| is_connected(other)).collect()
}

/// Tables of connections by their network, or by the process whose network may not be read.
type Tables = HashMap<Result<Namespace, u32>, Vec<TcpSocket>>;

/// Returns the ends of a process's connections, its own first.
fn connections_of(pid: u32, tables: &mut Tables) -> HashSet<(SocketAddr, SocketAddr)> {
    let held = sockets_of(pid).unwrap_or_default();
    if held.is_empty() {
        return HashSet::new();
    }
    let network = Namespace::of_process(pid, "net").map_err(|_| pid);
    let table = tables.entry(network).or_insert_with(|| connections_beside(pid));
    let own = table.iter().filter(|connection| held.contains(&connection.inode));
    own.map(TcpSocket::ends).collect()
}

/// Returns the inodes of the open sockets. Only the owner and root may list descriptors.
fn sockets_of(pid: u32) -> Option<HashSet<u64>> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return traced_sockets(pid).ok().map(Iterator::collect);
    };
    let descriptors = descriptors.flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |link: &str| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    Some(links.filter_map(|link| inode(link.to_str()?)).collect())
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, process::Command};

    use super::*;

    #[test]
    fn an_own_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = std::process::id();
        let found = listeners_of(own).into_iter().find(|found| found.address == address).unwrap();
        assert_eq!(found.user, rustix::process::geteuid().as_raw());
        assert!(holds_any(own, &[found.inode]) && !holds_any(own, &[u64::MAX]));
        drop(listener);
        assert!(!holds_any(own, &[found.inode]) && !holds_any(u32::MAX, &[found.inode]));
    }

    #[test]
    fn a_process_with_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; read -r _ <&3");
        let mut peer = Command::new("bash").args(["-c", &script]).spawn().unwrap();
        let accepted = listener.accept().unwrap();
        let (own, other) = (std::process::id(), peer.id());
        assert_eq!(connected_with(own, &[own, other, u32::MAX]), [other]);
        assert_eq!(connected_with(other, &[own]), [own]);
        drop(accepted);
        peer.wait().unwrap();
        assert_eq!(connected_with(own, &[other]), Vec::<u32>::new());
    }
}
