//! Namespaces of processes (namespaces(7)).

use std::{fmt::Display, fs, io, os::unix::fs::MetadataExt, sync::OnceLock};

use crate::{kernel::kernel_setting, text::read};

/// A namespace, known by the file that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// Device of the file.
    pub device: u64,
    /// Inode of the file.
    pub inode: u64,
}

impl Namespace {
    /// Returns the namespace of the calling thread. `kind` is a file name below `/proc/PID/ns`, such as `net`.
    pub fn own(kind: &str) -> io::Result<Self> {
        Self::read("thread-self", kind)
    }

    /// Returns the namespace of a process. That of another user needs the right to trace the process.
    pub fn of_process(pid: u32, kind: &str) -> io::Result<Self> {
        Self::read(pid, kind)
    }

    fn read(process: impl Display, kind: &str) -> io::Result<Self> {
        let file = fs::metadata(format!("/proc/{process}/ns/{kind}"))?;
        Ok(Self { device: file.dev(), inode: file.ino() })
    }
}

/// Returns the id that stands for all users that are unknown in this user namespace, usually the system's root. Returns
/// `None` if the namespace knows all users.
pub fn hidden_user() -> Option<u32> {
    static HIDDEN: OnceLock<Option<u32>> = OnceLock::new();
    *HIDDEN.get_or_init(|| {
        const ALL_USERS: u32 = u32::MAX;
        let known = read("/proc/self/uid_map").ok()?;
        let is_whole = known.split_whitespace().nth(2)?.parse() == Ok(ALL_USERS);
        if is_whole { None } else { kernel_setting("overflowuid") }
    })
}
