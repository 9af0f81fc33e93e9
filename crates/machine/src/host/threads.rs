//! Threads of a process: times on and without a CPU, and the CPUs that they may use.

use std::io;

use super::cpu_list::CpuList;
use crate::{
    process::{Status, thread_ids},
    text::read,
};

/// Times of a thread since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Id of the thread.
    pub id: u32,
    /// Time on a CPU in nanoseconds.
    pub ran_nanos: u64,
    /// Time in which it was ready but had no CPU, in nanoseconds.
    pub waited_nanos: u64,
}

/// A thread and the CPUs that it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPlace {
    /// Name of the thread, at most 15 bytes.
    pub name: String,
    /// The CPUs.
    pub cpus: CpuList,
}

impl ThreadTimes {
    /// Returns the times of all threads. Empty if the kernel does not count them (`CONFIG_SCHED_INFO`).
    pub fn all(pid: u32) -> io::Result<Vec<Self>> {
        let times = |id: u32| {
            let text = read(format!("/proc/{pid}/task/{id}/schedstat")).ok()?;
            Self::parse(id, &text)
        };
        Ok(thread_ids(pid)?.into_iter().filter_map(times).collect())
    }

    /// Parses time on a CPU, time without one, and number of turns (Documentation/scheduler/sched-stats.rst).
    fn parse(id: u32, text: &str) -> Option<Self> {
        let mut fields = text.split_whitespace();
        let mut number = || fields.next()?.parse().ok();
        Some(Self { id, ran_nanos: number()?, waited_nanos: number()? })
    }
}

impl ThreadPlace {
    /// Returns the places of all threads.
    pub fn all(pid: u32) -> io::Result<Vec<Self>> {
        let place = |id: u32| Self::from_status(&Status::of_thread(pid, id).ok()?);
        Ok(thread_ids(pid)?.into_iter().filter_map(place).collect())
    }

    /// Returns all CPUs that a process with these threads may use.
    pub fn allowed(threads: &[Self]) -> CpuList {
        let mut allowed = CpuList::default();
        for thread in threads {
            allowed.add(&thread.cpus);
        }
        allowed
    }

    fn from_status(status: &Status) -> Option<Self> {
        let cpus = CpuList::parse(status.field("Cpus_allowed_list:")?)?;
        Some(Self { name: status.name()?.to_owned(), cpus })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_thread() {
        let expected = ThreadTimes { id: 7, ran_nanos: 909_685, waited_nanos: 3_593_074 };
        assert_eq!(ThreadTimes::parse(7, "909685 3593074 6\n"), Some(expected));
        assert_eq!(ThreadTimes::parse(7, "909685\n"), None);
    }

    #[test]
    fn own_threads() {
        let own = std::process::id();
        let (times, places) = (ThreadTimes::all(own).unwrap(), ThreadPlace::all(own).unwrap());
        assert!(times.iter().any(|thread| thread.ran_nanos > 0), "{times:?}");
        assert!(places.iter().all(|thread| !thread.cpus.is_empty()), "{places:?}");
    }
}
