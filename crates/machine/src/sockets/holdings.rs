//! Sockets of a process whose open files this process may read: one of the same user, or for root any.

use std::{collections::HashSet, fs};

use super::table::{Listener, listeners_in};

/// Returns true if the process holds a socket with one of these inodes. False if it has ended or may not be read.
pub fn holds_any(pid: u32, inodes: &[u64]) -> bool {
    sockets_of(pid).is_some_and(|held| inodes.iter().any(|inode| held.contains(inode)))
}

/// Returns the listeners of a process, in its own network. Empty if it has ended or may not be read.
pub fn listeners_of(pid: u32) -> Vec<Listener> {
    let held = sockets_of(pid).unwrap_or_default();
    let mut found = listeners_in(&format!("/proc/{pid}/net"));
    found.retain(|listener| held.contains(&listener.inode));
    found
}

/// Returns the inodes of the open sockets.
fn sockets_of(pid: u32) -> Option<HashSet<u64>> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |link: &str| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    Some(links.filter_map(|link| inode(link.to_str()?)).collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

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
}
