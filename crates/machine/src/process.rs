//! CPU time and memory of a process and its descendants, from `/proc/PID/stat`.

use std::{
    collections::HashMap,
    fs,
    ops::Add,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// A process, distinguished from a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessIdentity {
    pid: u32,
    start_ticks: u64,
}

/// State of a process as this one can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The process runs.
    Running,
    /// The process has ended, even if its parent has not waited for it yet.
    Ended,
    /// A process has the pid, but `/proc` does not show which one.
    Hidden,
}

impl ProcessIdentity {
    /// Returns this process. Its pid is the one in its own pid namespace, even if `/proc` shows others.
    pub fn own() -> Option<Self> {
        let stat = Stat::parse(&fs::read_to_string("/proc/self/stat").ok()?)?;
        Some(Self { pid: std::process::id(), start_ticks: stat.start_ticks })
    }

    /// Returns the pid.
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// A process with a pid beyond the kernel's maximum (`PID_MAX_LIMIT`, 2^22).
    #[cfg(test)]
    pub(super) fn that_never_was() -> Self {
        Self { pid: 1 << 23, start_ticks: 0 }
    }

    /// Another process with the same pid.
    #[cfg(test)]
    pub(super) fn other(self) -> Self {
        Self { start_ticks: self.start_ticks + 1, ..self }
    }

    /// Returns the process that has this pid now; `None` if there is none.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        Some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Returns true if `/proc` shows this very process, and it has not ended.
    pub fn is_shown_alive(self) -> bool {
        let stat = Stat::read(self.pid);
        stat.is_some_and(|stat| stat.start_ticks == self.start_ticks && !stat.has_ended)
    }

    /// Looks for this very process, from a process of the same pid namespace. If `is_same_time` is false, the starts
    /// come from two time namespaces and cannot be compared.
    pub fn sight(self, is_same_time: bool) -> Sight {
        let is_there = || exists(self.pid);
        if !is_there() {
            return Sight::Ended;
        }
        match Stat::read(self.pid).filter(|_| is_same_time && has_own_pids()) {
            Some(stat) if stat.start_ticks != self.start_ticks || stat.has_ended => Sight::Ended,
            Some(_) => Sight::Running,
            // The process may have ended between the two looks.
            None if is_there() => Sight::Hidden,
            None => Sight::Ended,
        }
    }
}

/// Returns true if a process of this pid namespace has this pid. The kernel answers without `/proc`, which may belong
/// to another namespace or hide other users' processes.
fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Returns true if `/proc` has the pids of this process's own pid namespace.
fn has_own_pids() -> bool {
    let own = fs::read_link("/proc/self");
    own.is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str())
}

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
        let stat = Stat::read(pid)?;
        let rss_bytes = stat.rss_pages * rustix::param::page_size() as u64;
        Some(Self { cpu: duration_of(stat.own_ticks), rss_bytes })
    }

    /// Returns the names and CPU times of the current threads.
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

/// The fields of `proc_pid_stat(5)` in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    /// True for a zombie without other threads: the first thread of a process may end before the others.
    has_ended: bool,
    parent: u32,
    /// User and system ticks of the process.
    own_ticks: u64,
    /// User and system ticks of the process and of the children that it waited for.
    cpu_ticks: u64,
    start_ticks: u64,
    rss_pages: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses a line. The name, field 2, may contain spaces and parentheses, so fields count from the last
    /// parenthesis.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let is_zombie = matches!(*fields.first()?, "Z" | "X");
        Some(Self {
            has_ended: is_zombie && field(20)? <= 1,
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
        let expected = Stat {
            has_ended: false,
            parent: 1,
            own_ticks: 30,
            cpu_ticks: 37,
            start_ticks: 555,
            rss_pages: 77,
        };
        assert_eq!(Stat::parse(line), Some(expected));
        let ended = |line: &str| Stat::parse(line).unwrap().has_ended;
        assert!(!ended(&line.replace(" S ", " Z ")), "others of its 9 threads run");
        assert!(ended(&line.replace(" S ", " Z ").replace(" 20 0 9 ", " 20 0 1 ")));
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
        let whole = ProcessUsage::from_pid(std::process::id()).unwrap();
        assert!(!threads.is_empty() && sum <= whole.cpu, "{threads:?} {whole:?}");
        assert!(ProcessUsage::from_pid(u32::MAX).is_none());
    }

    #[test]
    fn a_process_is_itself() {
        let own = ProcessIdentity::own().unwrap();
        assert_eq!(own.sight(true), Sight::Running);
        assert_eq!(own.other().sight(true), Sight::Ended);
    }

    #[test]
    fn a_killed_process_has_ended_before_its_parent_asks() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let stat = Stat::read(child.id()).unwrap();
        let identity = ProcessIdentity { pid: child.id(), start_ticks: stat.start_ticks };
        assert_eq!(identity.sight(true), Sight::Running);
        child.kill().unwrap();
        let began = Instant::now();
        while identity.sight(true) != Sight::Ended && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(identity.sight(true), Sight::Ended);
        assert!(exists(child.id()), "it is a zombie");
        child.wait().unwrap();
        assert_eq!(identity.sight(true), Sight::Ended);
    }
}
