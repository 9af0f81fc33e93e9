//! Processes and threads that `/proc` shows.

use std::{fs, io, path::Path};

use super::status::Status;

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Id in the process's own pid namespace, which the kernel program sees.
    pub tid: u32,
    /// Id in this process's pid namespace.
    pub outside: u32,
    /// Name of the thread, at most 15 bytes.
    pub name: String,
}

/// Returns the pids of all processes, in no order. Processes of other users may be hidden (`hidepid` of proc(5)).
pub fn pids() -> io::Result<Vec<u32>> {
    numbers_in("/proc")
}

/// Returns the present threads of a process, in no order.
pub fn threads(pid: u32) -> io::Result<Vec<Thread>> {
    let thread = |outside: u32| {
        let status = Status::of_thread(pid, outside).ok()?;
        Some(Thread { tid: status.innermost_pid()?, outside, name: status.name()?.to_owned() })
    };
    Ok(thread_ids(pid)?.into_iter().filter_map(thread).collect())
}

/// Returns the ids of a process's threads in this process's pid namespace.
pub(crate) fn thread_ids(pid: u32) -> io::Result<Vec<u32>> {
    numbers_in(format!("/proc/{pid}/task"))
}

fn numbers_in(directory: impl AsRef<Path>) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(directory)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}
