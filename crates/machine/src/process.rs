//! CPU time and memory of a process and all that descend from it, from `/proc/PID/stat`.

use std::{
    collections::HashMap,
    fs,
    ops::Add,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// A process, told apart from a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessIdentity {
    pid: u32,
    start_ticks: u64,
}

impl ProcessIdentity {
    /// Of the process with this pid, if there is one.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        Some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Its pid.
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// Another process that was given the same pid.
    #[cfg(test)]
    pub(super) fn other(self) -> Self {
        Self { start_ticks: self.start_ticks + 1, ..self }
    }

    /// That very process still exists.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// What a process tree used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeUsage {
    /// CPU cores, user and system, since the measurement before.
    pub cpu_cores: f64,
    /// Resident memory now.
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

/// Measures the tree below one process from time to time.
#[derive(Debug)]
pub struct UsageMeter {
    root: u32,
    last: (Instant, Duration),
}

impl UsageMeter {
    /// Starts measuring; `None` when there is no such process.
    pub fn start(root: u32) -> Option<Self> {
        let (cpu, _) = totals(root)?;
        Some(Self { root, last: (Instant::now(), cpu) })
    }

    /// Measures a process that began after `since`; what it used so far is part of the next lap.
    pub fn of_process_begun_since(root: u32, since: Instant) -> Self {
        Self { root, last: (since, Duration::ZERO) }
    }

    /// Usage since the last call; `None` when the process is gone.
    pub fn lap(&mut self) -> Option<TreeUsage> {
        let (cpu, rss_bytes) = totals(self.root)?;
        let now = Instant::now();
        let (then, cpu_then) = std::mem::replace(&mut self.last, (now, cpu));
        let elapsed = (now - then).as_secs_f64().max(f64::MIN_POSITIVE);
        let used = cpu.saturating_sub(cpu_then).as_secs_f64();
        Some(TreeUsage { cpu_cores: used / elapsed, rss_bytes })
    }
}

/// CPU time, with that of children that have ended, and resident bytes of the tree below `root`.
fn totals(root: u32) -> Option<(Duration, u64)> {
    let all: HashMap<u32, Stat> = pids().filter_map(|pid| Some((pid, Stat::read(pid)?))).collect();
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

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What one process has used since it started, without its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time, user and system, of all threads, those that have ended included.
    pub cpu: Duration,
    /// Resident memory now.
    pub rss_bytes: u64,
}

impl ProcessUsage {
    /// Of the process with this pid, if there is one.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        let rss_bytes = stat.rss_pages * rustix::param::page_size() as u64;
        Some(Self { cpu: duration_of(stat.own_ticks), rss_bytes })
    }

    /// Names of the threads that run now, and their CPU time.
    pub fn of_threads(pid: u32) -> Vec<(String, Duration)> {
        let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let thread = |entry: fs::DirEntry| {
            let line = fs::read_to_string(entry.path().join("stat")).ok()?;
            let name = line.split_once('(')?.1.rsplit_once(')')?.0.to_owned();
            Some((name, duration_of(Stat::parse(&line)?.own_ticks)))
        };
        entries.filter_map(thread).collect()
    }
}

fn duration_of(ticks: u64) -> Duration {
    Duration::from_nanos(ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// The fields of `proc_pid_stat(5)` that count here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// User and system.
    own_ticks: u64,
    /// Own and of children that were waited for, user and system.
    cpu_ticks: u64,
    start_ticks: u64,
    rss_pages: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name, field 2, may hold spaces and parentheses: count from the last one.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(field(4)?).ok()?,
            own_ticks: field(14)? + field(15)?,
            cpu_ticks: field(14)? + field(15)? + field(16)? + field(17)?,
            start_ticks: field(22)?,
            rss_pages: field(24)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat() {
        let line = "7 (a) b) S 1 7 7 0 -1 4 0 0 0 0 10 20 3 4 20 0 9 0 555 1000 77 0";
        let expected =
            Stat { parent: 1, own_ticks: 30, cpu_ticks: 37, start_ticks: 555, rss_pages: 77 };
        assert_eq!(Stat::parse(line), Some(expected));
        assert_eq!(Stat::parse("7 (a"), None);
    }

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
        let whole = ProcessUsage::of(std::process::id()).unwrap();
        assert!(!threads.is_empty() && sum <= whole.cpu, "{threads:?} {whole:?}");
        assert!(ProcessUsage::of(u32::MAX).is_none());
    }

    #[test]
    fn a_process_is_itself() {
        let own = ProcessIdentity::of(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert!(!ProcessIdentity { start_ticks: own.start_ticks + 1, ..own }.is_alive());
    }
}
