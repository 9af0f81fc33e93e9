//! The machine's CPU time during a load, by consumer.

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rabbitscope_machine::CpuTimes;
use rabbitscope_runs::record::SecondRow;

use super::Watcher;

/// Shares of the machine's CPU time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineShare {
    /// CPU time that the host of a virtual machine took away.
    pub stolen: f64,
    /// CPU time of other processes than broker and load generator, without interrupts.
    pub foreign: f64,
    /// The foreign share in seconds of CPU time.
    pub foreign_seconds: f64,
}

/// The state of the machine at the start of a run and after each of its seconds.
#[derive(Clone, Debug, Default)]
pub struct MachineHistory(Arc<Mutex<Vec<Mark>>>);

/// CPU time used up to a moment.
#[derive(Clone, Copy, Debug)]
struct Mark {
    machine: CpuTimes,
    /// CPU time of broker and load generator, in seconds.
    own_seconds: f64,
}

impl MachineHistory {
    /// Returns the shares within a range of seconds, cut to the seconds of the run.
    pub fn share(&self, seconds: Range<usize>) -> Option<MachineShare> {
        let marks = self.marks();
        let last = marks.len().checked_sub(1)?;
        share(marks[seconds.start.min(last)], marks[seconds.end.min(last)])
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
pub struct MachineWatch {
    history: MachineHistory,
    own_seconds: f64,
}

impl MachineWatch {
    /// Returns a watcher that adds to `history`.
    pub fn new(history: MachineHistory) -> Self {
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

/// Returns the shares between two moments.
fn share(from: Mark, to: Mark) -> Option<MachineShare> {
    let total = to.machine.total - from.machine.total;
    let own_seconds = to.own_seconds - from.own_seconds;
    let foreign_seconds = (to.machine.busy - from.machine.busy - own_seconds).max(0.0);
    (total > 0.0).then(|| MachineShare {
        stolen: (to.machine.stolen - from.machine.stolen) / total,
        foreign: foreign_seconds / total,
        foreign_seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nobodys_own_is_foreign() {
        let mark = |stat: &str, own_seconds| Mark {
            machine: CpuTimes::parse(stat, 100.0).unwrap(),
            own_seconds,
        };
        let begun = mark("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1\n", 0.0);
        let later = mark("cpu  200 0 200 1590 0 5 5 100 0 0\n", 1.5);
        let found = share(begun, later).unwrap();
        assert!((found.stolen - 0.0909).abs() < 1e-3, "{found:?}");
        assert!((found.foreign - 0.5 / 11.0).abs() < 1e-3, "{found:?}");
        assert_eq!(share(begun, begun), None);
        assert_eq!(CpuTimes::parse("intr 5", 100.0), None);
    }
}
