//! The network namespace of a process. A container has interfaces and sockets of its own; a socket that is opened
//! inside of its namespace stays there, whichever thread uses it later.

use std::{fs::File, io, os::fd::AsFd, thread};

use rustix::{
    fs::{Mode, OFlags, fstat, stat},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use super::error::PacketError;
use crate::permission::{NODE, raise};

/// The network namespace in which a process was when it was looked up.
#[derive(Debug)]
pub struct NetworkNamespace {
    pid: u32,
    file: File,
    is_own: bool,
}

impl NetworkNamespace {
    /// The namespace of the process `pid`. That of another user's process takes `CAP_SYS_PTRACE`.
    pub fn of(pid: u32) -> Result<Self, PacketError> {
        let path = format!("/proc/{pid}/ns/net");
        let opened = {
            let _raised = raise(NODE);
            rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let opened = opened.and_then(|file| {
            let (theirs, own) = (fstat(&file)?, stat("/proc/thread-self/ns/net")?);
            let is_own = (theirs.st_dev, theirs.st_ino) == (own.st_dev, own.st_ino);
            Ok(Self { pid, file: File::from(file), is_own })
        });
        opened.map_err(PacketError::io(format!("looking at {path}")))
    }

    /// Whether the calling thread was in it when it was looked up, so that it need not be entered.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Runs `open` in the namespace, on a thread of its own that ends with it. The calling thread stays where it
    /// is. A namespace that is not the own one takes `CAP_SYS_ADMIN`.
    pub(super) fn run<T: Send>(
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
            started.join().expect("what it runs does not panic")
        })
    }

    fn refusal(&self, source: io::Error) -> PacketError {
        if source.kind() == io::ErrorKind::PermissionDenied {
            return PacketError::NoRightToEnter { pid: self.pid };
        }
        PacketError::Io { action: format!("entering the network of process {}", self.pid), source }
    }
}

/// Runs `open` in `namespace`, or here where there is none.
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
        let own = NetworkNamespace::of(std::process::id()).unwrap();
        assert!(own.is_own());
        assert_eq!(own.run(|| Ok(4711)).unwrap(), 4711);
    }

    #[test]
    fn a_process_that_is_not_there() {
        let refused = NetworkNamespace::of(u32::MAX - 1).unwrap_err().to_string();
        assert!(refused.contains("/proc/4294967294/ns/net"), "{refused}");
    }
}
