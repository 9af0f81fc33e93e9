//! The machine's CPU time during a load, by consumer.

use std::{
    fs,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rabbitscope_runs::record::SecondRow;

use super::Watcher;

/// Shares of the machine's CPU time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MachineShare {
    /// CPU time that the host of a virtual machine took away.
    pub(crate) stolen: f64,
    /// CPU time of other processes than broker and load generator, without interrupts.
    pub(crate) foreign: f64,
    /// The foreign share in seconds of CPU time.
    pub(crate) foreign_seconds: f64,
}

/// The state of the machine at the start of a run and after each of its seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineHistory(Arc<Mutex<Vec<Mark>>>);

/// CPU time used up to a moment.
#[derive(Clone, Copy, Debug)]
struct Mark {
    machine: CpuTimes,
    /// CPU time of broker and load generator, in seconds.
    own_seconds: f64,
}

impl MachineHistory {
    /// Returns the shares within a range of seconds, cut to the seconds of the run.
    pub(crate) fn share(&self, seconds: Range<usize>) -> Option<MachineShare> {
        let marks = self.marks();
        let last = marks.len().checked_sub(1)?;
        let (from, to) = (marks[seconds.start.min(last)], marks[seconds.end.min(last)]);
        from.machine.until(to.machine, to.own_seconds - from.own_seconds)
    }

    fn marks(&self) -> MutexGuard<'_, Vec<Mark>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, own_seconds: f64) {
        let machine = CpuTimes::now();
        self.marks().extend(machine.map(|machine| Mark { machine, own_seconds }));
    }
}

/// The watcher that records the history of a run.
pub(crate) struct MachineWatch {
    history: MachineHistory,
    own_seconds: f64,
}

impl MachineWatch {
    pub(crate) fn new(history: MachineHistory) -> Self {
        Self { history, own_seconds: 0.0 }
    }
}

impl Watcher for MachineWatch {
    fn started(&mut self) {
        self.history.mark(0.0);
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        let cores = row.local_broker_cores.unwrap_or(0.0) + row.client_cpu_cores.unwrap_or(0.0);
        self.own_seconds += cores * row.interval_nanos as f64 / 1e9;
        self.history.mark(self.own_seconds);
        Ok(())
    }
}

/// CPU time of all CPUs since the machine booted, in seconds (`proc_stat(5)`).
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuTimes {
    /// Time of processes, in user and system mode.
    busy: f64,
    stolen: f64,
    /// Total time, including idle time.
    total: f64,
}

impl CpuTimes {
    fn now() -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, ticks)
    }

    fn parse(stat: &str, ticks_per_second: f64) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        // The guests' times, which follow, are already part of user time.
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
        let at = |stat: &str| CpuTimes::parse(stat, 100.0).unwrap();
        let begun = at("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1\n");
        let later = at("cpu  200 0 200 1590 0 5 5 100 0 0\n");
        let share = begun.until(later, 1.5).unwrap();
        assert!((share.stolen - 0.0909).abs() < 1e-3, "{share:?}");
        assert!((share.foreign - 0.5 / 11.0).abs() < 1e-3, "{share:?}");
        assert_eq!(begun.until(begun, 0.0), None);
        assert_eq!(CpuTimes::parse("intr 5", 100.0), None);
    }
}
