//! Joins the reports of a process's threads into updates, normally one per second.

use std::time::{Duration, Instant};

use rabbitscope_timing::RunInstant;

use super::update::{PartState, WorkerUpdate};
use crate::{
    report::{IntervalReport, Report},
    shared_state::SharedState,
};

/// Time that the first report of a second waits for the other threads. Chosen: they follow within a few milliseconds,
/// and a live view should not wait for a thread without CPU time.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Shortest time between updates that contain only the state of the process. Chosen: ten per second.
const STATE_INTERVAL: Duration = Duration::from_millis(100);

/// Collects reports until they are sent.
pub struct Collector {
    /// Threads that report intervals.
    threads: usize,
    pending: WorkerUpdate,
    waiting_since: Option<Instant>,
    state: PartState,
    /// State in the last update.
    told: PartState,
    told_at: Instant,
    number: u64,
}

impl Collector {
    /// Returns a collector for so many threads.
    pub fn new(threads: usize) -> Self {
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

    /// Takes a report. Returns true if the load cannot continue.
    pub fn take(&mut self, report: Report) -> bool {
        self.waiting_since.get_or_insert_with(Instant::now);
        match report {
            Report::Interval(interval) => self.add(*interval),
            // Delivery checks need the observations of all processes; such scenarios are refused before a run.
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

    /// Adds an interval. Merges histograms of the same second at once, because they take the most memory.
    fn add(&mut self, mut interval: IntervalReport) {
        interval.measured.slots.store_selected();
        let turn = |of: &IntervalReport| (of.draining, of.second);
        let same =
            self.pending.intervals.iter_mut().find(|pending| turn(pending) == turn(&interval));
        if let Some(first) = same {
            first.measured.take_histograms(&mut interval.measured);
        }
        self.pending.intervals.push(interval);
    }

    /// Number of threads that have ended.
    pub fn ended(&self) -> usize {
        self.state.ended
    }

    /// Returns the next update if one is due.
    pub fn update(&mut self, now: RunInstant, shared: &SharedState) -> Option<WorkerUpdate> {
        self.state = PartState { ended: self.state.ended, ..PartState::read(shared) };
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
