//! Locks that say who writes.
//!
//! The kernel ends a lock (`flock`) with the last descriptor of its file: no lock outlives its process, whatever pid
//! namespace that is in. Other machines see it only where the file system passes it on.

use std::{fs::File, io};

use rustix::{
    fs::{FlockOperation, flock, fstatfs},
    io::Errno,
};

/// The reason why there is no lock.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it.
    Taken,
    /// The file system gives none.
    Io(io::Error),
}

/// Takes the only lock of an open file, for as long as it is open, and without waiting.
pub fn lock(file: &File) -> Result<(), LockError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(LockError::Taken),
        Err(error) => Err(LockError::Io(error.into())),
    }
}

/// Numbers of file systems (`statfs(2)`) that several machines can mount, and that keep a lock on the machine where it was
/// taken, always or depending on how they are mounted.
const LOCKED_ON_ONE_MACHINE: [(u32, &str); 7] = [
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x5346_414f, "AFS"),
    (0x786f_4256, "vboxsf"),
];

/// The file system, where another machine that writes there may not see a lock of this file.
pub fn unseen_by_others(file: &File) -> Option<&'static str> {
    let number = u32::try_from(fstatfs(file).ok()?.f_type & 0xffff_ffff).ok()?;
    name_of(number)
}

fn name_of(number: u32) -> Option<&'static str> {
    LOCKED_ON_ONE_MACHINE.iter().find(|(of, _)| *of == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_a_lock_until_its_file_is_closed() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(place.path()).unwrap();
        let first = open();
        lock(&first).unwrap();
        assert!(matches!(lock(&open()), Err(LockError::Taken)));
        drop(first);
        lock(&open()).unwrap();
    }

    #[test]
    fn a_file_without_locks_is_not_taken_by_another() {
        // A file that is opened as a path only has none.
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let path = rustix::fs::open("/proc/self/stat", flags, rustix::fs::Mode::empty()).unwrap();
        assert!(matches!(lock(&File::from(path)), Err(LockError::Io(_))));
    }

    #[test]
    fn file_systems_of_several_machines_are_known() {
        assert_eq!(unseen_by_others(&File::open("/proc/self/stat").unwrap()), None);
        // NFS_SUPER_MAGIC: locks of files are kept by its server.
        assert_eq!((name_of(0x6969), name_of(0x0102_1997)), (None, Some("9p")));
    }
}
