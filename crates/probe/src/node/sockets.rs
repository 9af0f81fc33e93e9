//! Finds out whether a VM holds a socket.

use std::{collections::HashSet, io};

use rabbitscope_machine::sockets::traced_sockets;

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
        let _raised = raise(NODE);
        let taken = take(&mut traced_sockets(self.pid)?);
        self.confirm().map(|()| taken)
    }
}
