//! CPU times of all processes.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::{
    process::{Stat, pids},
    usage::duration_of,
};

/// Limit for the time of one pass. A pass takes some microseconds for each process.
const MAX_TIME: Duration = Duration::from_millis(500);

/// CPU time of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessTime {
    /// Process identifier.
    pub pid: u32,
    /// Ticks from the boot to the start of the process.
    pub start_ticks: u64,
    /// Name of the program, at most 15 bytes.
    pub command: String,
    /// CPU time since the start, without children.
    pub cpu: Duration,
}

impl ProcessTime {
    /// Returns all processes that `/proc` shows; fewer if that takes too long.
    pub fn all() -> io::Result<Vec<Self>> {
        let start = Instant::now();
        let in_time = pids()?.into_iter().take_while(|_| start.elapsed() < MAX_TIME);
        Ok(in_time.filter_map(Self::from_pid).collect())
    }

    fn from_pid(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        Some(Self {
            pid,
            start_ticks: stat.start_ticks,
            cpu: duration_of(stat.own_ticks),
            command: stat.name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessTime;

    #[test]
    fn this_process_is_among_them() {
        let all = ProcessTime::all().unwrap();
        let own = all.iter().find(|process| process.pid == std::process::id()).unwrap();
        assert!(!own.command.is_empty() && own.start_ticks > 0, "{own:?}");
    }
}
