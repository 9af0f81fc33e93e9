//! CPU time of the whole machine.

use crate::text::read;

/// CPU time of all CPUs since the machine booted, in seconds (`proc_stat(5)`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTimes {
    /// Time of processes, in user and system mode.
    pub busy: f64,
    /// Time without work, waiting for disks included.
    pub idle: f64,
    /// Time that the host of a virtual machine took away.
    pub stolen: f64,
    /// Total time, including idle time.
    pub total: f64,
}

impl CpuTimes {
    /// Reads the times up to now.
    pub fn now() -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self::parse(&read("/proc/stat").ok()?, ticks)
    }

    /// Parses the text of `/proc/stat`.
    pub fn parse(stat: &str, ticks_per_second: f64) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        // The guests' times, which follow, are already part of user time.
        let times: Vec<f64> = fields.take(8).filter_map(|field| field.parse().ok()).collect();
        let [user, nice, system, idle, waiting, .., stolen] = times[..] else { return None };
        Some(Self {
            busy: (user + nice + system) / ticks_per_second,
            idle: (idle + waiting) / ticks_per_second,
            stolen: stolen / ticks_per_second,
            total: times.iter().sum::<f64>() / ticks_per_second,
        })
    }
}
