//! The lock of a broker's directory, which tells a live broker from a dead one.
//!
//! Every process of the broker inherits the descriptor, so that the kernel keeps the lock until the last one is gone
//! (`flock(2)`). Unlike a pid, the lock is visible from another pid namespace and from a container that mounts the
//! directory.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::{FlockOperation, OFlags, flock};

/// Name of the locked file.
pub(crate) const LOCK: &str = "lock";

/// The lock, held until this value and its copies in other processes are dropped.
#[derive(Debug)]
pub(crate) struct DirectoryLock(File);

/// The state of a lock that could not be taken.
#[derive(Debug)]
pub(crate) enum Unlockable {
    /// A process holds the lock.
    Held,
    /// The lock file does not exist.
    Missing,
    /// The system refused the attempt.
    Unknown(io::Error),
}

impl DirectoryLock {
    /// Makes and locks the lock file of a new directory.
    pub(crate) fn create(directory: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(directory.join(LOCK))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self(file))
    }

    /// Takes the lock of a directory whose broker is dead.
    pub(crate) fn take(directory: &Path) -> Result<Self, Unlockable> {
        let no_links = i32::try_from(OFlags::NOFOLLOW.bits()).expect("a flag fits");
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(no_links)
            .open(directory.join(LOCK))
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Unlockable::Missing,
                _ => Unlockable::Unknown(error),
            })?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Unlockable::Held),
            Err(error) => Err(Unlockable::Unknown(error.into())),
        }
    }

    /// Returns a copy of the descriptor, for another process.
    pub(crate) fn descriptor(&self) -> io::Result<std::os::fd::OwnedFd> {
        self.0.try_clone().map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use command_fds::{CommandFdExt, FdMapping};

    use super::*;

    #[test]
    fn the_last_process_with_the_descriptor_keeps_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        assert!(matches!(DirectoryLock::take(place), Err(Unlockable::Missing)));
        let lock = DirectoryLock::create(place).unwrap();
        assert!(matches!(DirectoryLock::take(place), Err(Unlockable::Held)));
        let mut sleeping = Command::new("sleep");
        let mapping = FdMapping { parent_fd: lock.descriptor().unwrap(), child_fd: 9 };
        sleeping.arg("60").fd_mappings(vec![mapping]).unwrap();
        let mut child = sleeping.spawn().unwrap();
        drop(sleeping);
        drop(lock);
        assert!(matches!(DirectoryLock::take(place), Err(Unlockable::Held)));
        child.kill().unwrap();
        child.wait().unwrap();
        DirectoryLock::take(place).unwrap();
    }

    #[test]
    fn a_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("other");
        std::fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, directory.path().join(LOCK)).unwrap();
        assert!(matches!(DirectoryLock::take(directory.path()), Err(Unlockable::Unknown(_))));
    }
}
