//! Converts the updates of all processes into the reports that the aggregator also gets from local threads.

use std::sync::{Arc, atomic::Ordering};

use rabbitscope_timing::RunInstant;

use super::{
    bounds::Bounds,
    part::{PartSize, PartWishes},
    service_order::ServiceOrder,
    update::{PartState, UpdateError, WorkerUpdate},
};
use crate::{
    report::{Failure, Report},
    shared_state::SharedState,
};

/// The processes of a run and their latest states.
pub struct Merger {
    workers: Vec<Worker>,
    order: ServiceOrder,
    bounds: Bounds,
}

struct Worker {
    /// Index of its first thread among the threads of all processes.
    first_thread: usize,
    size: PartSize,
    state: PartState,
    /// Number of its latest update.
    number: u64,
    is_lost: bool,
}

impl Merger {
    /// Returns a merger of the updates of these parts.
    pub fn new(parts: &[PartSize], shared: &SharedState) -> Self {
        let mut first_thread = 0;
        let workers = parts.iter().map(|size| {
            let first = first_thread;
            first_thread += size.threads();
            Worker {
                first_thread: first,
                size: *size,
                state: PartState::default(),
                number: 0,
                is_lost: false,
            }
        });
        let order = ServiceOrder::new(Arc::clone(&shared.service), parts.len());
        Self { workers: workers.collect(), order, bounds: Bounds::new(parts) }
    }

    /// Returns the reports in an update. A repeated update, or one from a dropped process, yields none. No clock of a
    /// process can be past `latest`. After an error the caller must drop the process.
    pub fn take(
        &mut self,
        worker: usize,
        bytes: &[u8],
        latest: RunInstant,
        shared: &SharedState,
    ) -> Result<Vec<Report>, UpdateError> {
        let of = self.workers.get_mut(worker).filter(|worker| !worker.is_lost);
        let Some(of) = of else { return Ok(Vec::new()) };
        let update = WorkerUpdate::decode(bytes)?;
        if update.number <= of.number {
            return Ok(Vec::new());
        }
        self.bounds.admit(worker, &update, latest)?;
        of.number = update.number;
        let (first, threads) = (of.first_thread, of.size.threads());
        // Each end becomes a report; more ends than threads would only waste memory.
        let state = PartState { ended: update.state.ended.min(threads), ..update.state };
        let ended = state.ended.saturating_sub(of.state.ended);
        of.state = state;
        // Service changes go before the rows that they belong to.
        let added = self.order.add(worker, update.changes, update.covered_until);
        added.map_err(UpdateError::Impossible)?;
        let intervals = update.intervals.into_iter().map(|mut interval| {
            interval.worker += first;
            Report::Interval(Box::new(interval))
        });
        let mut reports: Vec<_> = intervals.collect();
        reports.extend(update.cut_short.into_iter().map(Report::CutShort));
        reports.extend(update.failed.map(|reason| Report::Failed(Failure::wrong(reason))));
        reports.extend((0..ended).map(|_| Report::Done));
        self.mirror(shared);
        Ok(reports)
    }

    /// Returns the processes with threads that have not ended.
    pub fn running(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|worker| self.is_running(*worker)).collect()
    }

    /// Returns whether load threads of the process publish or await confirms.
    pub fn is_publishing(&self, worker: usize) -> bool {
        let is_publishing =
            |of: &Worker| of.state.draining < of.size.load_threads || of.state.confirming > 0;
        self.workers.get(worker).is_some_and(is_publishing)
    }

    /// Returns the process that has this thread of the run.
    pub fn of_thread(&self, thread: usize) -> Option<usize> {
        let of = |owner: &Worker| {
            (owner.first_thread..owner.first_thread + owner.size.threads()).contains(&thread)
        };
        self.workers.iter().position(of)
    }

    /// Returns whether threads of the process have not ended.
    pub fn is_running(&self, worker: usize) -> bool {
        let is_running = |of: &Worker| of.state.ended < of.size.threads();
        self.workers.get(worker).is_some_and(is_running)
    }

    /// Drops the process. Returns the threads of the run that will report nothing more.
    pub fn give_up(&mut self, worker: usize, shared: &SharedState) -> LostThreads {
        let Some(of) = self.workers.get_mut(worker).filter(|worker| !worker.is_lost) else {
            return LostThreads::default();
        };
        of.is_lost = true;
        let threads = of.size.threads();
        let running = threads - of.state.ended.min(threads);
        // The end of the run must not wait for this process.
        of.state.confirming = 0;
        of.state.draining = of.size.load_threads;
        of.state.ended = threads;
        let lost = LostThreads { threads: of.first_thread..of.first_thread + threads, running };
        self.order.end(worker);
        self.mirror(shared);
        lost
    }

    /// Number of threads that own connections, over all processes.
    pub fn load_threads(&self) -> usize {
        self.workers.iter().map(|worker| worker.size.load_threads).sum()
    }

    /// Number of threads, over all processes.
    pub fn threads(&self) -> usize {
        self.workers.iter().map(|worker| worker.size.threads()).sum()
    }

    /// Flags that the processes need to know about each other and about the run.
    pub fn wishes(&self, shared: &SharedState) -> PartWishes {
        let draining = self.sum(|state| state.draining);
        let is_set = |flag: &std::sync::atomic::AtomicBool| flag.load(Ordering::Relaxed);
        PartWishes {
            ending: is_set(&shared.ending),
            abort: is_set(&shared.abort),
            is_empty: is_set(&shared.is_empty),
            others_confirmed: draining >= self.load_threads()
                && shared.confirming.load(Ordering::Relaxed) == 0,
        }
    }

    fn sum(&self, of: fn(&PartState) -> usize) -> usize {
        self.workers.iter().map(|worker| of(&worker.state)).fold(0, usize::saturating_add)
    }

    /// Stores the sums over all processes in the shared state, which decides the end of the run.
    fn mirror(&self, shared: &SharedState) {
        let sum = |of| self.sum(of);
        shared.publishers_done.store(sum(|state| state.done.publishers), Ordering::Relaxed);
        shared.consumers_done.store(sum(|state| state.done.consumers), Ordering::Relaxed);
        shared.callers_done.store(sum(|state| state.done.callers), Ordering::Relaxed);
        shared.churners_done.store(sum(|state| state.done.churn_slots), Ordering::Relaxed);
        shared.confirming.store(sum(|state| state.confirming), Ordering::Relaxed);
        shared.draining.store(sum(|state| state.draining), Ordering::Relaxed);
    }
}

/// Threads of a dropped process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostThreads {
    /// Indices among the threads of all processes.
    pub threads: std::ops::Range<usize>,
    /// Number of them that had not ended.
    pub running: usize,
}
