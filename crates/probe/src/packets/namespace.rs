//! The network namespace of a process. A container has interfaces and sockets of its own. A socket opened in its
//! namespace stays there, even if another thread uses it later.

use std::{fs::File, io, os::fd::AsFd, thread};

use rabbitscope_machine::Namespace;
use rustix::{
    fs::{Mode, OFlags, fstat},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use super::error::PacketError;
use crate::permission::{NODE, raise};

/// The network namespace of a process at the time of the look-up.
#[derive(Debug)]
pub struct NetworkNamespace {
    pid: u32,
    file: File,
    is_own: bool,
}

impl NetworkNamespace {
    /// The namespace of the process `pid`. For another user's process it needs `CAP_SYS_PTRACE`.
    pub fn from_pid(pid: u32) -> Result<Self, PacketError> {
        let path = format!("/proc/{pid}/ns/net");
        let opened = {
            let _raised = raise(NODE);
            rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let opened = opened.map_err(io::Error::from).and_then(|file| {
            let found = fstat(&file)?;
            let theirs = Namespace { device: found.st_dev, inode: found.st_ino };
            let is_own = theirs == Namespace::own("net")?;
            Ok(Self { pid, file: File::from(file), is_own })
        });
        opened.map_err(PacketError::io(format!("looking at {path}")))
    }

    /// Returns whether the calling thread was in the namespace at the look-up, so that it need not enter it.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Runs `open` in the namespace, on a temporary thread. The calling thread stays in its own. Entering another
    /// namespace needs `CAP_SYS_ADMIN`.
    pub fn run<T: Send>(
        &self,
        open: impl FnOnce() -> Result<T, PacketError> + Send,
    ) -> Result<T, PacketError> {
        if self.is_own {
            return open();
        }
        let inside = || {
            move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))
                .map_err(|errno| self.refusal(errno.into()))?;
            open()
        };
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("other network".into());
            let started = builder
                .spawn_scoped(scope, inside)
                .map_err(PacketError::io("starting a thread for another network"))?;
            started.join().expect("`open` does not panic")
        })
    }

    fn refusal(&self, source: io::Error) -> PacketError {
        if source.kind() == io::ErrorKind::PermissionDenied {
            return PacketError::NoRightToEnter { pid: self.pid };
        }
        PacketError::Io { action: format!("entering the network of process {}", self.pid), source }
    }
}

/// Runs `open` in `namespace`, or in the current one for `None`.
pub(super) fn within<T: Send>(
    namespace: Option<&NetworkNamespace>,
    open: impl FnOnce() -> Result<T, PacketError> + Send,
) -> Result<T, PacketError> {
    match namespace {
        Some(namespace) => namespace.run(open),
        None => open(),
    }
}

#[cfg(test)]
mod tests {
    use super::NetworkNamespace;

    #[test]
    fn the_own_namespace_needs_no_privilege() {
        let own = NetworkNamespace::from_pid(std::process::id()).unwrap();
        assert!(own.is_own());
        assert_eq!(own.run(|| Ok(4711)).unwrap(), 4711);
    }

    #[test]
    fn a_process_that_is_not_there() {
        let refused = NetworkNamespace::from_pid(u32::MAX - 1).unwrap_err().to_string();
        assert!(refused.contains("/proc/4294967294/ns/net"), "{refused}");
    }
}
