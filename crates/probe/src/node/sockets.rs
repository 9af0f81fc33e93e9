//! Whether a VM holds a socket. `/proc/PID/fd` is closed to all but the owner; the facts about open files
//! (`/proc/PID/fdinfo`) are open to who may trace the process, and since Linux 5.14 they have the inode.

use std::{fs, io, net::UdpSocket, os::fd::AsRawFd};

use super::process::Process;
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Whether the VM `pid` holds a socket with one of these inodes (`proc_net_tcp(5)`). Of a process that is
/// no VM nothing is looked at.
pub fn holds_socket(pid: u32, inodes: &[u64]) -> Result<bool, ProbeError> {
    let process = Process::open(pid)?;
    process
        .holds(inodes)
        .map_err(ProbeError::io(format!("looking at the sockets of process {pid}")))
}

impl Process {
    fn holds(&self, inodes: &[u64]) -> io::Result<bool> {
        // Other files may have the same number.
        let mount = mount_of_sockets()?;
        let _raised = raise(NODE);
        let entries = fs::read_dir(format!("/proc/{}/fdinfo", self.pid))?;
        let facts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
        let mut sockets = facts.filter_map(|text| {
            let of_sockets = number_in(&text, "mnt_id:")? == mount;
            of_sockets.then(|| number_in(&text, "ino:"))?
        });
        let found = sockets.any(|inode| inodes.contains(&inode));
        self.confirm().map(|()| found)
    }
}

/// All sockets of a machine are on one mount, which the kernel keeps to itself.
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
