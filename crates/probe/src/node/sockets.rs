//! Finds out whether a VM holds a socket. Only the owner may read `/proc/PID/fd`. A process that may trace another
//! may read `/proc/PID/fdinfo`, which has the inode of each open file since Linux 5.14.

use std::{collections::HashSet, fs, io, net::UdpSocket, os::fd::AsRawFd};

use super::process::Process;
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Returns whether the VM `pid` holds a socket with one of these inodes (`proc_net_tcp(5)`). Fails without reading
/// anything if the process is no VM.
pub fn holds_socket(pid: u32, inodes: &[u64]) -> Result<bool, ProbeError> {
    let process = Process::open(pid)?;
    process
        .holds(inodes)
        .map_err(ProbeError::io(format!("looking at the sockets of process {pid}")))
}

/// Inodes of all sockets that the VM `pid` holds; other tables name sockets by them. Fails as [`holds_socket`]
/// does.
pub fn sockets_of(pid: u32) -> Result<HashSet<u64>, ProbeError> {
    let process = Process::open(pid)?;
    process
        .sockets(|all| all.collect())
        .map_err(ProbeError::io(format!("listing the sockets of process {pid}")))
}

impl Process {
    fn holds(&self, inodes: &[u64]) -> io::Result<bool> {
        self.sockets(|mut all| Iterator::any(&mut all, |inode| inodes.contains(&inode)))
    }

    /// Passes an iterator over the inodes of this process's sockets to `take`.
    fn sockets<T>(&self, take: impl FnOnce(&mut dyn Iterator<Item = u64>) -> T) -> io::Result<T> {
        // Files of other mounts may have the same inode number.
        let mount = mount_of_sockets()?;
        let _raised = raise(NODE);
        let entries = fs::read_dir(format!("/proc/{}/fdinfo", self.pid))?;
        let facts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
        let mut sockets = facts.filter_map(|text| {
            let of_sockets = number_in(&text, "mnt_id:")? == mount;
            of_sockets.then(|| number_in(&text, "ino:"))?
        });
        let taken = take(&mut sockets);
        self.confirm().map(|()| taken)
    }
}

/// The id of the kernel's internal mount that has all sockets.
fn mount_of_sockets() -> io::Result<u64> {
    let own = UdpSocket::bind("127.0.0.1:0")?;
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", own.as_raw_fd()))?;
    number_in(&text, "mnt_id:").ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// The number after `key` at the beginning of a line.
fn number_in(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::number_in;

    #[test]
    fn facts_about_a_descriptor() {
        let text = "pos:\t0\nflags:\t02004002\nmnt_id:\t8\nino:\t4711\n";
        assert_eq!((number_in(text, "mnt_id:"), number_in(text, "ino:")), (Some(8), Some(4711)));
        assert_eq!(number_in("pos:\t0\n", "ino:"), None);
    }
}
