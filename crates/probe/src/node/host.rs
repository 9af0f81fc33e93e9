//! The machine of a node, read with the right to look at processes of other users.

use std::io;

use rabbitscope_machine::{
    host::{DataDisk, HostReader, HostReading, HostState, ThreadPlace},
    sockets::connected_with,
};

use super::process::Process;
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Reads the machine of one node.
#[derive(Debug)]
pub struct NodeHost {
    pid: u32,
    reader: HostReader,
}

impl NodeHost {
    /// Finds control groups and disk of the node `pid`. Without the right to look at the node, its disk stays unknown.
    /// Fails if the process is no VM.
    pub fn open(pid: u32) -> Result<Self, ProbeError> {
        let data = match Process::open(pid) {
            Ok(process) => process.data_directory(),
            Err(error) if error.is_permission() => None,
            Err(error) => return Err(error),
        };
        let _raised = raise(NODE);
        let reader = HostReader::new(pid, data.as_ref());
        Ok(Self { pid, reader: reader.map_err(cannot_read(pid))? })
    }

    /// The disk of the node's data. `None` if it is unknown.
    pub fn disk(&self) -> Option<&DataDisk> {
        self.reader.disk()
    }

    /// Reads the counters of the machine and the node.
    pub fn read(&self) -> Result<HostReading, ProbeError> {
        let _raised = raise(NODE);
        self.reader.read().map_err(cannot_read(self.pid))
    }

    /// Reads facts about the node.
    pub fn state(&self) -> Result<HostState, ProbeError> {
        let _raised = raise(NODE);
        self.reader.state().map_err(cannot_read(self.pid))
    }

    /// Returns those processes that have a connection with the node.
    pub fn connected(&self, others: &[u32]) -> Vec<u32> {
        let _raised = raise(NODE);
        connected_with(self.pid, others)
    }

    /// Returns the threads of another process with the CPUs that they may use. Empty if it has ended.
    pub fn threads_of(other: u32) -> Vec<ThreadPlace> {
        let _raised = raise(NODE);
        ThreadPlace::all(other).unwrap_or_default()
    }
}

fn cannot_read(pid: u32) -> impl FnOnce(io::Error) -> ProbeError {
    ProbeError::io(format!("reading the machine of process {pid}"))
}
