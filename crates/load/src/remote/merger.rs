//! Joins the updates of all processes of a run to the reports that the aggregator knows from local threads.

use std::sync::{Arc, atomic::Ordering};

use super::{
    bounds::Bounds,
    part::{PartSize, PartWishes},
    service_order::ServiceOrder,
    update::{PartState, UpdateError, WorkerUpdate},
};
use crate::{
    clock::RunInstant,
    context::SharedState,
    report::{Failure, Report},
};

/// The processes of a run, as far as they have told.
pub(crate) struct Merger {
    workers: Vec<Worker>,
    order: ServiceOrder,
    bounds: Bounds,
}

struct Worker {
    /// Number of its first thread among those of all processes.
    first_thread: usize,
    size: PartSize,
    state: PartState,
    /// Number of its latest update.
    number: u64,
    is_lost: bool,
}

impl Merger {
    pub(crate) fn new(parts: &[PartSize], shared: &SharedState) -> Self {
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

    /// The reports in an update. One that came before, or that comes from a process that was given up, has none. No clock
    /// of a process can be past `latest`. After an error the process is to be given up.
    pub(crate) fn take(
        &mut self,
        worker: usize,
        bytes: &[u8],
        latest: RunInstant,
        shared: &SharedState,
    ) -> Result<Vec<Report>, UpdateError> {
        let of = self.workers.get_mut(worker).filter(|it| !it.is_lost);
        let Some(of) = of else { return Ok(Vec::new()) };
        let update = WorkerUpdate::decode(bytes)?;
        if update.number <= of.number {
            return Ok(Vec::new());
        }
        self.bounds.admit(worker, &update, latest)?;
        of.number = update.number;
        let (first, threads) = (of.first_thread, of.size.threads());
        // Each is a report: more than there are threads would only take memory.
        let state = PartState { ended: update.state.ended.min(threads), ..update.state };
        let ended = state.ended.saturating_sub(of.state.ended);
        of.state = state;
        // Before the rows that they belong to.
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

    /// The processes that have threads that have not ended.
    pub(crate) fn running(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|worker| self.is_running(*worker)).collect()
    }

    /// Load threads of the process publish, or await confirms.
    pub(crate) fn is_publishing(&self, worker: usize) -> bool {
        let is_publishing =
            |of: &Worker| of.state.draining < of.size.load_threads || of.state.confirming > 0;
        self.workers.get(worker).is_some_and(is_publishing)
    }

    /// The process that has this thread of the run.
    pub(crate) fn of_thread(&self, thread: usize) -> Option<usize> {
        let of =
            |it: &Worker| (it.first_thread..it.first_thread + it.size.threads()).contains(&thread);
        self.workers.iter().position(of)
    }

    /// Threads of the process have not ended.
    pub(crate) fn is_running(&self, worker: usize) -> bool {
        let is_running = |of: &Worker| of.state.ended < of.size.threads();
        self.workers.get(worker).is_some_and(is_running)
    }

    /// The process is given up: says which threads of the run will report nothing more.
    pub(crate) fn give_up(&mut self, worker: usize, shared: &SharedState) -> LostThreads {
        let Some(of) = self.workers.get_mut(worker).filter(|it| !it.is_lost) else {
            return LostThreads::default();
        };
        of.is_lost = true;
        let threads = of.size.threads();
        let running = threads - of.state.ended.min(threads);
        // Nothing waits for it.
        of.state.confirming = 0;
        of.state.draining = of.size.load_threads;
        of.state.ended = threads;
        let lost = LostThreads { threads: of.first_thread..of.first_thread + threads, running };
        self.order.end(worker);
        self.mirror(shared);
        lost
    }

    /// Threads that own connections, of all processes.
    pub(crate) fn load_threads(&self) -> usize {
        self.workers.iter().map(|worker| worker.size.load_threads).sum()
    }

    /// All threads of all processes.
    pub(crate) fn threads(&self) -> usize {
        self.workers.iter().map(|worker| worker.size.threads()).sum()
    }

    /// What the processes are to know of each other and of the run.
    pub(crate) fn wishes(&self, shared: &SharedState) -> PartWishes {
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

    /// The sums of what the processes say become the state that the end of the run is decided by.
    fn mirror(&self, shared: &SharedState) {
        let sum = |of| self.sum(of);
        shared.publishers_done.store(sum(|it| it.done.publishers), Ordering::Relaxed);
        shared.consumers_done.store(sum(|it| it.done.consumers), Ordering::Relaxed);
        shared.callers_done.store(sum(|it| it.done.callers), Ordering::Relaxed);
        shared.churners_done.store(sum(|it| it.done.churn_slots), Ordering::Relaxed);
        shared.confirming.store(sum(|it| it.confirming), Ordering::Relaxed);
        shared.draining.store(sum(|it| it.draining), Ordering::Relaxed);
    }
}

/// Threads of a process that was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LostThreads {
    /// Their numbers among those of all processes.
    pub(crate) threads: std::ops::Range<usize>,
    /// How many of them had not ended.
    pub(crate) running: usize,
}
