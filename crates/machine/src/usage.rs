//! CPU time and memory of a process and its descendants.

use std::{
    collections::HashMap,
    ops::Add,
    time::{Duration, Instant},
};

use crate::process::{Stat, pids, thread_ids};

/// Usage of a process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeUsage {
    /// Used CPU cores, user and system, since the previous measurement.
    pub cpu_cores: f64,
    /// Current resident memory.
    pub rss_bytes: u64,
}

impl Add for TreeUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu_cores: self.cpu_cores + other.cpu_cores,
            rss_bytes: self.rss_bytes + other.rss_bytes,
        }
    }
}

/// Repeated measurement of the tree below one process.
#[derive(Debug)]
pub struct UsageMeter {
    root: u32,
    last: (Instant, Duration),
}

impl UsageMeter {
    /// Starts to measure; `None` if the process does not exist.
    pub fn start(root: u32) -> Option<Self> {
        let (cpu, _) = totals(root)?;
        Some(Self { root, last: (Instant::now(), cpu) })
    }

    /// Measures a process that began after `since`. Its usage so far belongs to the first lap.
    pub fn of_process_begun_since(root: u32, since: Instant) -> Self {
        Self { root, last: (since, Duration::ZERO) }
    }

    /// Returns the usage since the last call; `None` if the process is gone.
    pub fn lap(&mut self) -> Option<TreeUsage> {
        let (cpu, rss_bytes) = totals(self.root)?;
        let now = Instant::now();
        let (then, cpu_then) = std::mem::replace(&mut self.last, (now, cpu));
        let elapsed = (now - then).as_secs_f64().max(f64::MIN_POSITIVE);
        let used = cpu.saturating_sub(cpu_then).as_secs_f64();
        Some(TreeUsage { cpu_cores: used / elapsed, rss_bytes })
    }
}

/// Returns CPU time and resident bytes of the tree below `root`. The CPU time includes children that have ended.
fn totals(root: u32) -> Option<(Duration, u64)> {
    let stat = |pid| Some((pid, Stat::read(pid).ok()?));
    let all: HashMap<u32, Stat> = pids().ok()?.into_iter().filter_map(stat).collect();
    all.get(&root)?;
    let in_tree = all.keys().filter(|&&pid| descends(&all, pid, root));
    let (ticks, pages) = in_tree
        .map(|pid| &all[pid])
        .fold((0, 0), |(ticks, pages), stat| (ticks + stat.cpu_ticks, pages + stat.rss_pages));
    Some((duration_of(ticks), pages * rustix::param::page_size() as u64))
}

fn descends(all: &HashMap<u32, Stat>, pid: u32, root: u32) -> bool {
    let mut ancestors = std::iter::successors(Some(pid), |pid| Some(all.get(pid)?.parent));
    ancestors.by_ref().take(all.len()).any(|ancestor| ancestor == root)
}

/// Usage of one process since its start, without its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time of all threads, user and system, including threads that have ended.
    pub cpu: Duration,
    /// Current resident memory.
    pub rss_bytes: u64,
}

impl ProcessUsage {
    /// Returns the usage of the process with this pid; `None` if there is none.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        let rss_bytes = stat.rss_pages * rustix::param::page_size() as u64;
        Some(Self { cpu: duration_of(stat.own_ticks), rss_bytes })
    }

    /// Returns the names and CPU times of the current threads.
    pub fn of_threads(pid: u32) -> Vec<(String, Duration)> {
        let threads = thread_ids(pid).unwrap_or_default().into_iter();
        let stats = threads.filter_map(|thread| Stat::of_thread(pid, thread).ok());
        stats.map(|stat| (stat.name, duration_of(stat.own_ticks))).collect()
    }
}

pub(crate) fn duration_of(ticks: u64) -> Duration {
    Duration::from_nanos(ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_cpu() {
        let mut meter = UsageMeter::start(std::process::id()).unwrap();
        let until = Instant::now() + Duration::from_millis(200);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let usage = meter.lap().unwrap();
        assert!(usage.cpu_cores > 0.1, "{usage:?}");
        assert!(usage.rss_bytes > 100_000, "{usage:?}");
        assert!(UsageMeter::start(u32::MAX).is_none());
    }

    #[test]
    fn threads_have_names_and_no_more_time_than_their_process() {
        let threads = ProcessUsage::of_threads(std::process::id());
        let sum: Duration = threads.iter().map(|(_, cpu)| *cpu).sum();
        let whole = ProcessUsage::from_pid(std::process::id()).unwrap();
        assert!(!threads.is_empty() && sum <= whole.cpu, "{threads:?} {whole:?}");
        assert!(ProcessUsage::from_pid(u32::MAX).is_none());
    }
}
