//! Joins what the threads of a process report to updates, one a second as a rule.

use std::time::{Duration, Instant};

use super::update::{PartState, WorkerUpdate};
use crate::{
    clock::RunInstant,
    context::SharedState,
    report::{IntervalReport, Report},
};

/// How long the first report of a second waits for those of the other threads. Chosen: they come within a few
/// milliseconds, and whoever looks at the run should not wait for a thread that has no CPU.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Shortest time between updates that say only how far the process is. Chosen: ten a second.
const STATE_INTERVAL: Duration = Duration::from_millis(100);

/// Collects reports until they are sent.
pub(crate) struct Collector {
    /// Threads that report intervals.
    threads: usize,
    pending: WorkerUpdate,
    waiting_since: Option<Instant>,
    state: PartState,
    /// As of the last update.
    told: PartState,
    told_at: Instant,
    number: u64,
}

impl Collector {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            pending: WorkerUpdate::default(),
            waiting_since: None,
            state: PartState::default(),
            told: PartState::default(),
            told_at: Instant::now(),
            number: 0,
        }
    }

    /// Takes a report. True: the load cannot go on.
    pub(crate) fn take(&mut self, report: Report) -> bool {
        self.waiting_since.get_or_insert_with(Instant::now);
        match report {
            Report::Interval(interval) => self.add(*interval),
            // Checking deliveries takes what all processes observed; that is refused before a run.
            Report::Observed(_) => {}
            Report::CutShort(reason) => self.pending.cut_short.push(reason),
            Report::Failed(failure) => {
                self.pending.failed.get_or_insert(failure.reason);
                return true;
            }
            Report::Done => self.state.ended += 1,
        }
        false
    }

    /// The histograms of a second are added here already: they are what takes room.
    fn add(&mut self, mut interval: IntervalReport) {
        interval.measured.store_selected();
        let turn = |of: &IntervalReport| (of.draining, of.second);
        let same = self.pending.intervals.iter_mut().find(|it| turn(it) == turn(&interval));
        if let Some(first) = same {
            first.measured.take_histograms(&mut interval.measured);
        }
        self.pending.intervals.push(interval);
    }

    /// Threads that have ended.
    pub(crate) fn ended(&self) -> usize {
        self.state.ended
    }

    /// The next update, if it is time for one.
    pub(crate) fn update(&mut self, now: RunInstant, shared: &SharedState) -> Option<WorkerUpdate> {
        self.state = PartState { ended: self.state.ended, ..PartState::of(shared) };
        let is_complete = self.pending.intervals.len() >= self.threads
            || self.pending.failed.is_some()
            || self.state.ended == self.threads;
        let is_due =
            self.waiting_since.is_some_and(|since| is_complete || since.elapsed() >= MAX_WAIT);
        let has_moved = self.state != self.told && self.told_at.elapsed() >= STATE_INTERVAL;
        if !is_due && !has_moved {
            return None;
        }
        self.waiting_since = None;
        (self.told, self.told_at) = (self.state, Instant::now());
        self.number += 1;
        Some(WorkerUpdate {
            number: self.number,
            changes: shared.service.take_changes(),
            covered_until: now,
            state: self.state,
            ..std::mem::take(&mut self.pending)
        })
    }
}
