//! `until = "empty"`: after the publishers have stopped, consumers go on until the queues are empty.

use std::{
    sync::{atomic::Ordering, mpsc::Sender},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_runs::scenario::{Scenario, Until};

use crate::{
    context::{RunContext, SharedState},
    report::Report,
    verify::QueueIndex,
};

/// From an answer to the next question at least, and as a multiple of what the answer took, so that
/// asking for many queues is no load of its own.
const PAUSE: Duration = Duration::from_millis(100);

const PAUSE_FACTOR: u32 = 4;

/// Longest wait before the end is seen.
const STEP: Duration = Duration::from_millis(50);

/// Looks whether the queues are empty.
pub(super) struct QueueDrain<'a> {
    context: &'a RunContext<'a>,
    shared: &'a SharedState,
    timeout: Duration,
    /// Load threads; the queues can be empty for good when none of them publishes.
    workers: usize,
    queues: QueueIndex,
}

impl<'a> QueueDrain<'a> {
    /// Absent when nobody waits for that.
    pub(crate) fn of(
        context: &'a RunContext<'a>,
        shared: &'a SharedState,
        workers: usize,
    ) -> Option<Self> {
        match context.scenario.stop.until {
            Some(Until::Empty(timeout)) => {
                let queues = QueueIndex::of(context.scenario);
                Some(Self { context, shared, timeout, workers, queues })
            }
            _ => None,
        }
    }

    /// Returns when they are empty, when that has taken too long, or when nobody waits any more.
    pub(crate) fn watch(&self, reports: &Sender<Report>) {
        while publishes(self.context.scenario) && !self.has_stopped() {
            if self.is_over() {
                return;
            }
            thread::sleep(STEP);
        }
        let began = Instant::now();
        let mut was_empty = false;
        while !self.is_over() {
            let asked = Instant::now();
            let left = self.left();
            // Twice in a row: a message that is refused or returned may be on its way back.
            if left == Some(0) && was_empty {
                break;
            }
            was_empty = left == Some(0);
            if began.elapsed() >= self.timeout {
                let what = left.map_or_else(
                    || "at least one of them could not be asked".to_owned(),
                    |left| format!("{left} messages are left"),
                );
                let seconds = self.timeout.as_secs_f64();
                let reason = format!(
                    "the queues were not empty within {seconds} s (`empty-timeout`): {what}"
                );
                reports.send(Report::CutShort(reason)).ok();
                break;
            }
            self.pause(PAUSE.max(asked.elapsed() * PAUSE_FACTOR));
        }
        self.shared.ending.store(true, Ordering::Relaxed);
        self.shared.is_empty.store(true, Ordering::Relaxed);
    }

    fn has_stopped(&self) -> bool {
        self.shared.draining.load(Ordering::Relaxed) >= self.workers
            && self.shared.confirming.load(Ordering::Relaxed) == 0
    }

    fn is_over(&self) -> bool {
        [&self.shared.abort, &self.shared.is_over, &self.shared.is_empty]
            .iter()
            .any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Messages in all queues; absent when one of them did not answer.
    pub(crate) fn left(&self) -> Option<u64> {
        let depths = self.context.restorer.depths(self.queues.names(), self.context.dialer);
        depths.into_iter().sum()
    }

    fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        while Instant::now() < until && !self.is_over() {
            thread::sleep(STEP.min(length));
        }
    }
}

/// Something else than emptiness ends the load first.
fn publishes(scenario: &Scenario) -> bool {
    !scenario.publishers.is_empty() || !scenario.requests.is_empty()
}
