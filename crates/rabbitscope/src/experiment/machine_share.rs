//! Whose the machine's CPU time was while a run was under load.

use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
};

use rabbitscope_runs::record::SecondRow;

use crate::watch::Watcher;

/// Shares of the machine's CPU time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MachineShare {
    /// Taken away by the host of a virtual machine.
    pub(super) stolen: f64,
    /// Used by others than broker and load generator, interrupts left out.
    pub(super) foreign: f64,
    /// The same in seconds of CPU time.
    pub(super) foreign_seconds: f64,
}

/// Watches a run. What it saw is in the cell that it shares.
pub(super) struct MachineWatch {
    begun: Option<CpuTimes>,
    /// CPU time of broker and load generator, seconds.
    own_seconds: f64,
    seen: Arc<Mutex<Option<MachineShare>>>,
}

impl MachineWatch {
    pub(super) fn new(seen: Arc<Mutex<Option<MachineShare>>>) -> Self {
        Self { begun: None, own_seconds: 0.0, seen }
    }
}

impl Watcher for MachineWatch {
    fn started(&mut self) {
        self.begun = CpuTimes::now();
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        let cores = row.broker_cpu_cores.unwrap_or(0.0) + row.client_cpu_cores.unwrap_or(0.0);
        self.own_seconds += cores * row.interval_nanos as f64 / 1e9;
        if let Some((begun, now)) = self.begun.zip(CpuTimes::now()) {
            let share = begun.until(now, self.own_seconds);
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = share;
        }
        Ok(())
    }
}

/// CPU time of all CPUs since the machine began, in seconds (`proc_stat(5)`).
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuTimes {
    /// Of processes, in user and system mode.
    busy: f64,
    stolen: f64,
    /// All of it, idle included.
    total: f64,
}

impl CpuTimes {
    fn now() -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self::of(&fs::read_to_string("/proc/stat").ok()?, ticks)
    }

    fn of(stat: &str, ticks_per_second: f64) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        // Guests, after these, are part of user time already.
        let times: Vec<f64> = fields.take(8).filter_map(|field| field.parse().ok()).collect();
        let [user, nice, system, .., stolen] = times[..] else { return None };
        Some(Self {
            busy: (user + nice + system) / ticks_per_second,
            stolen: stolen / ticks_per_second,
            total: times.iter().sum::<f64>() / ticks_per_second,
        })
    }

    fn until(self, later: Self, own_seconds: f64) -> Option<MachineShare> {
        let total = later.total - self.total;
        let foreign_seconds = (later.busy - self.busy - own_seconds).max(0.0);
        (total > 0.0).then(|| MachineShare {
            stolen: (later.stolen - self.stolen) / total,
            foreign: foreign_seconds / total,
            foreign_seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nobodys_own_is_foreign() {
        let at = |stat: &str| CpuTimes::of(stat, 100.0).unwrap();
        let begun = at("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1\n");
        let later = at("cpu  200 0 200 1590 0 5 5 100 0 0\n");
        let share = begun.until(later, 1.5).unwrap();
        assert!((share.stolen - 0.0909).abs() < 1e-3, "{share:?}");
        assert!((share.foreign - 0.5 / 11.0).abs() < 1e-3, "{share:?}");
        assert_eq!(begun.until(begun, 0.0), None);
        assert_eq!(CpuTimes::of("intr 5", 100.0), None);
    }
}
