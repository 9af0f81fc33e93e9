//! Resources that all processes of a broker hold: the lock of the directory and the ports of the nodes.

use std::{io, os::fd::OwnedFd};

use super::{lock::DirectoryLock, ports::HeldPorts};

/// The lock and the ports of a broker.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) lock: DirectoryLock,
    pub(crate) ports: HeldPorts,
}

impl Held {
    /// Copies of the descriptors, for the guard.
    pub(crate) fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        let mut descriptors = self.ports.descriptors()?;
        descriptors.push(self.lock.descriptor()?);
        Ok(descriptors)
    }
}
