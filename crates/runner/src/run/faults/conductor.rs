//! The execution of faults: one thread per `[[faults]]` entry of the scenario causes the harm when it is due, and
//! undoes it.

use std::{
    sync::{Mutex, MutexGuard, TryLockError, atomic::AtomicBool, mpsc::Receiver},
    thread::{self, Scope},
    time::{Duration, Instant},
};

use rabbitscope_broker::NodeControl;
use rabbitscope_runs::{record::FaultRecord, scenario::Scenario};

use super::{
    plan::{PlannedFault, Whom, plan},
    replicas::ReplicaLog,
    schedule::LoadTime,
};

/// Delay after which a fault is skipped, because an earlier action still runs.
const LATE_TOLERANCE: Duration = Duration::from_millis(500);

/// Time before the end of a fault at which the positions of the queues are noted.
const REPLICAS_BEFORE_END: Duration = Duration::from_secs(1);

/// Waits for the start of the load and executes the planned faults. Returns after the load has ended and everything is
/// undone. The records are in the order of their due times.
pub(super) fn conduct(
    scenario: &Scenario,
    (control, replicas): (&NodeControl, &ReplicaLog),
    load_started: &Receiver<Instant>,
    (has_ended, stop): (&AtomicBool, &AtomicBool),
) -> Vec<FaultRecord> {
    // A load that never started had no faults.
    let Ok(start) = load_started.recv() else { return Vec::new() };
    let nodes = control.nodes();
    let conductor = Conductor {
        control,
        replicas,
        time: LoadTime { start, length: scenario.run.duration, has_ended, stop },
        busy: nodes.iter().map(|_| Mutex::default()).collect(),
    };
    let conductor = &conductor;
    let entries = plan(scenario, nodes.len());
    let mut faults: Vec<FaultRecord> = thread::scope(|scope| {
        let conduct = |entry| scope.spawn(move || conductor.conduct(scope, entry));
        let threads: Vec<_> = entries.into_iter().map(conduct).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a fault panicked")).collect()
    });
    faults.sort_by_key(|fault| (fault.planned_nanos, fault.entry));
    faults
}

/// The nodes of a broker under load.
struct Conductor<'a> {
    control: &'a NodeControl,
    replicas: &'a ReplicaLog,
    time: LoadTime<'a>,
    /// Locks by node, held during a fault.
    busy: Vec<Mutex<()>>,
}

impl Conductor<'_> {
    /// Executes the faults of one entry, one after another.
    fn conduct<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        planned: Vec<PlannedFault>,
    ) -> Vec<FaultRecord> {
        let mut faults = Vec::new();
        for fault in planned {
            if !self.time.wait_until(fault.at) {
                break;
            }
            faults.push(self.perform(scope, &fault));
        }
        faults
    }

    fn perform<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        fault: &PlannedFault,
    ) -> FaultRecord {
        let mut record = FaultRecord {
            kind: fault.kind,
            entry: fault.entry as u64,
            planned_nanos: nanos(fault.at),
            ..FaultRecord::default()
        };
        if let Err(reason) = self.harm_and_undo(scope, fault, &mut record) {
            record.failure = Some(reason);
        }
        record
    }

    /// Causes the harm and undoes it. Undoes everything that was started, even if a step fails.
    fn harm_and_undo<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        fault: &PlannedFault,
        record: &mut FaultRecord,
    ) -> Result<(), String> {
        let late = self.time.start.elapsed().saturating_sub(fault.at);
        if late > LATE_TOLERANCE {
            return Err(format!("the previous fault ended {:.1} s too late", late.as_secs_f64()));
        }
        let node = match &fault.whom {
            Whom::Node(node) => *node,
            Whom::LeaderOf(queue) => self.replicas.leader_of(queue, &self.busy_nodes())?,
        };
        record.node = self.control.node(node).node_name();
        let reserved = self.reserve(node)?;
        record.begun_nanos = Some(self.time.nanos());
        let (harm, done) = self.control.harm(fault.kind, node);
        match done {
            Ok(()) => {
                record.happened_nanos = Some(self.time.nanos());
                self.let_it_last(scope, fault, node);
            }
            Err(error) => record.failure = Some(error.to_string()),
        }
        record.undo_begun_nanos = Some(self.time.nanos());
        let undone = self.control.undo(&harm);
        record.pid_after = fault.kind.ends_node().then(|| self.control.node(node).pid);
        drop(reserved);
        undone.map_err(|error| {
            let before =
                record.failure.take().map_or_else(String::new, |failure| format!("{failure}; "));
            format!("{before}it was not undone: {error}")
        })?;
        record.undone_nanos = Some(self.time.nanos());
        self.note_replicas(scope, format!("after fault {}", fault.number), None);
        Ok(())
    }

    fn let_it_last<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        fault: &PlannedFault,
        node: usize,
    ) {
        let ends = [fault.lasts.map(|lasts| fault.at + lasts), self.time.length];
        let Some(end) = ends.into_iter().flatten().min() else {
            self.time.wait_until(Duration::MAX);
            return;
        };
        // Half of a short fault, so that the queue has a new leader by then.
        let before = REPLICAS_BEFORE_END.min(end.saturating_sub(fault.at) / 2);
        if !before.is_zero() && self.time.wait_until(end.saturating_sub(before)) {
            self.note_replicas(scope, format!("during fault {}", fault.number), Some(node));
        }
        self.time.wait_until(end);
    }

    /// Notes the replicas on a separate thread, so that a slow node delays no fault.
    fn note_replicas<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        when: String,
        besides: Option<usize>,
    ) {
        let at_nanos = self.time.nanos();
        let avoided: Vec<usize> = self.busy_nodes().into_iter().chain(besides).collect();
        scope.spawn(move || self.replicas.take(at_nanos, &when, &avoided));
    }

    fn reserve(&self, node: usize) -> Result<MutexGuard<'_, ()>, String> {
        match self.busy[node].try_lock() {
            Ok(reserved) => Ok(reserved),
            Err(TryLockError::Poisoned(reserved)) => Ok(reserved.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err("the node had not yet recovered from another fault".to_owned())
            }
        }
    }

    /// Returns the positions of nodes that a fault affects now.
    fn busy_nodes(&self) -> Vec<usize> {
        let is_busy = |lock: &Mutex<()>| matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        (0..self.busy.len()).filter(|node| is_busy(&self.busy[*node])).collect()
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
