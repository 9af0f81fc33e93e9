//! Identity, users and signals of a process or thread.

use std::io;

use crate::text::{read, value};

/// The text of `/proc/PID/status` (`proc_pid_status(5)`).
#[derive(Clone, Debug)]
pub struct Status(String);

impl Status {
    /// Reads the status of a process.
    pub fn read(pid: u32) -> io::Result<Self> {
        read(format!("/proc/{pid}/status")).map(Self)
    }

    /// Reads the status of the calling process.
    pub fn own() -> io::Result<Self> {
        read("/proc/self/status").map(Self)
    }

    /// Reads the status of a thread.
    pub(crate) fn of_thread(pid: u32, thread: u32) -> io::Result<Self> {
        read(format!("/proc/{pid}/task/{thread}/status")).map(Self)
    }

    /// Returns the name, at most 15 bytes. The kernel escapes `\` and line ends.
    pub fn name(&self) -> Option<&str> {
        value(&self.0, "Name:")
    }

    /// Returns the text behind a key such as `VmSwap:`.
    pub(crate) fn field(&self, key: &str) -> Option<&str> {
        value(&self.0, key)
    }

    /// Returns the id in the namespace of the task itself: the last column of `NSpid`.
    pub fn innermost_pid(&self) -> Option<u32> {
        value(&self.0, "NSpid:")?.split_whitespace().next_back()?.parse().ok()
    }

    /// Returns true if the real, effective, saved and file system user are all `user`.
    pub fn belongs_to(&self, user: u32) -> bool {
        let ids = value(&self.0, "Uid:");
        ids.is_some_and(|ids| ids.split_whitespace().all(|id| id.parse() == Ok(user)))
    }

    /// Returns true if the process ignores the signal with this number.
    pub fn ignores(&self, signal: i32) -> bool {
        let mask = value(&self.0, "SigIgn:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        // Bit 0 is signal 1.
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn the_innermost_pid_is_the_last() {
        let status = Status("Name:\tx\nNSpid:\t4711\t12\t1\n".to_owned());
        assert_eq!((status.innermost_pid(), status.name()), (Some(1), Some("x")));
    }

    #[test]
    fn users_and_signals() {
        let status = Status("Uid:\t7\t7\t7\t7\nSigIgn:\t0000000000000001\n".to_owned());
        assert!(status.belongs_to(7) && !status.belongs_to(8));
        assert!(status.ignores(1) && !status.ignores(2));
        let mixed = Status("Uid:\t7\t0\t7\t7\n".to_owned());
        assert!(!mixed.belongs_to(7) && !mixed.ignores(1));
        assert!(Status::own().unwrap().belongs_to(rustix::process::geteuid().as_raw()));
    }
}
