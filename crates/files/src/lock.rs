//! Locks that identify the writer.
//!
//! The kernel releases a lock (`flock`) with the last descriptor of its file. No lock outlives its process, in any
//! pid namespace. Other machines see a lock only if the file system forwards it.

use std::{fs::File, io};

use rustix::{
    fs::{FlockOperation, flock, fstatfs},
    io::Errno,
};

/// Reason why a file cannot be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process has the lock.
    Taken,
    /// The file system supports no locks.
    Io(io::Error),
}

/// Takes the exclusive lock of an open file, without waiting. It lasts as long as the file is open.
pub fn lock(file: &File) -> Result<(), LockError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(LockError::Taken),
        Err(error) => Err(LockError::Io(error.into())),
    }
}

/// Magic numbers (`statfs(2)`) of file systems that several machines can mount, but whose locks stay on one machine,
/// always or depending on the mount options.
const LOCKED_ON_ONE_MACHINE: [(u32, &str); 7] = [
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x5346_414f, "AFS"),
    (0x786f_4256, "vboxsf"),
];

/// Returns the name of the file system if another machine that writes there may not see a lock of this file.
pub fn unseen_by_others(file: &File) -> Option<&'static str> {
    let number = u32::try_from(fstatfs(file).ok()?.f_type & 0xffff_ffff).ok()?;
    name_of(number)
}

fn name_of(number: u32) -> Option<&'static str> {
    LOCKED_ON_ONE_MACHINE.iter().find(|(magic, _)| *magic == number).map(|(_, name)| *name)
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
        // A file opened with O_PATH cannot be locked.
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let path = rustix::fs::open("/proc/self/stat", flags, rustix::fs::Mode::empty()).unwrap();
        assert!(matches!(lock(&File::from(path)), Err(LockError::Io(_))));
    }

    #[test]
    fn file_systems_of_several_machines_are_known() {
        assert_eq!(unseen_by_others(&File::open("/proc/self/stat").unwrap()), None);
        // NFS_SUPER_MAGIC: the server keeps the locks.
        assert_eq!((name_of(0x6969), name_of(0x0102_1997)), (None, Some("9p")));
    }
}
