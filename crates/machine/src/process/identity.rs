//! A process, distinguished from others that have its pid before or after it.

use std::fs;

use serde::{Deserialize, Serialize};

use super::stat::Stat;

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
        let stat = Stat::own().ok()?;
        Some(Self { pid: std::process::id(), start_ticks: stat.start_ticks })
    }

    /// Returns the pid.
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// A process with a pid beyond the kernel's maximum (`PID_MAX_LIMIT`, 2^22).
    #[cfg(test)]
    pub(crate) fn that_never_was() -> Self {
        Self { pid: 1 << 23, start_ticks: 0 }
    }

    /// Another process with the same pid.
    #[cfg(test)]
    pub(crate) fn other(self) -> Self {
        Self { start_ticks: self.start_ticks + 1, ..self }
    }

    /// Returns the process that has this pid now; `None` if there is none.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        Some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Returns true if `/proc` shows this very process, and it has not ended.
    pub fn is_shown_alive(self) -> bool {
        let stat = Stat::read(self.pid);
        stat.is_ok_and(|stat| stat.start_ticks == self.start_ticks && !stat.has_ended())
    }

    /// Looks for this very process, from a process of the same pid namespace. If `is_same_time` is false, the starts
    /// come from two time namespaces and cannot be compared.
    pub fn sight(self, is_same_time: bool) -> Sight {
        let is_there = || exists(self.pid);
        if !is_there() {
            return Sight::Ended;
        }
        match Stat::read(self.pid).ok().filter(|_| is_same_time && has_own_pids()) {
            Some(stat) if stat.start_ticks != self.start_ticks || stat.has_ended() => Sight::Ended,
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

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
