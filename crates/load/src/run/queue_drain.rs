//! `until = "empty"`: after the publishers have stopped, consumers go on until the queues are empty.

use std::{
    sync::{atomic::Ordering, mpsc::Sender},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_measurements::{Report, SharedState};
use rabbitscope_runs::scenario::{Scenario, Until};
use rabbitscope_verify::QueueIndex;

use crate::context::RunContext;

/// Shortest pause between two polls of the queue depths. Chosen.
const DEPTH_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Lower bound of the pause, as a multiple of the time that the poll took. At most a fifth of the time is then spent
/// polling, so that many queues are no load of their own.
const POLL_INTERVAL_FACTOR: u32 = 4;

/// Interval at which a pause checks whether the run is over.
const END_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polls the depths of the queues until they are empty.
pub(super) struct QueueDrain<'a> {
    context: &'a RunContext<'a>,
    shared: &'a SharedState,
    timeout: Duration,
    /// Number of load threads. The queues can be empty for good only when none of them publishes.
    workers: usize,
    queues: QueueIndex,
}

impl<'a> QueueDrain<'a> {
    /// Creates a drain; absent if the scenario does not wait for empty queues.
    pub(crate) fn new(
        context: &'a RunContext<'a>,
        shared: &'a SharedState,
        workers: usize,
    ) -> Option<Self> {
        match context.scenario.run.until() {
            Some(Until::Empty(timeout)) => {
                let queues = QueueIndex::from_scenario(context.scenario);
                Some(Self { context, shared, timeout, workers, queues })
            }
            _ => None,
        }
    }

    /// Polls the queues. Returns when they are empty, when the timeout has passed, or when the run is over.
    pub(crate) fn watch(&self, reports: &Sender<Report>) {
        while publishes(self.context.scenario) && !self.has_stopped() {
            if self.is_over() {
                return;
            }
            thread::sleep(END_POLL_INTERVAL);
        }
        let began = Instant::now();
        let mut was_empty = false;
        while !self.is_over() {
            let asked = Instant::now();
            let left = self.left();
            // Empty twice in a row: a message that is rejected or requeued may be on its way back.
            if left == Some(0) && was_empty {
                break;
            }
            was_empty = left == Some(0);
            if began.elapsed() >= self.timeout {
                let what = left.map_or_else(
                    || "at least one of them did not answer".to_owned(),
                    |left| match left {
                        1 => "1 message is left".to_owned(),
                        _ => format!("{left} messages are left"),
                    },
                );
                let seconds = self.timeout.as_secs_f64();
                let reason = format!(
                    "the queues were not empty within {seconds} s (`empty-timeout`): {what}"
                );
                reports.send(Report::CutShort(reason)).ok();
                self.shared.is_abandoned.store(true, Ordering::Relaxed);
                break;
            }
            self.pause(DEPTH_POLL_INTERVAL.max(asked.elapsed() * POLL_INTERVAL_FACTOR));
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

    /// Returns the messages in all queues; absent if one of them did not answer.
    pub(crate) fn left(&self) -> Option<u64> {
        self.depths()?.into_iter().sum()
    }

    fn depths(&self) -> Option<Vec<Option<u64>>> {
        let restorer = self.context.restorer?;
        Some(restorer.depths(self.queues.names(), self.context.dialer))
    }

    /// Returns the messages that are in the queues after all connections are closed. Queues may have vanished with the
    /// connections. The depths are read twice, as unacknowledged messages come back a little later.
    pub(crate) fn left_behind(&self) -> u64 {
        let ask = || self.depths().into_iter().flatten().flatten().sum();
        let left: u64 = ask();
        if left > 0 {
            return left;
        }
        thread::sleep(DEPTH_POLL_INTERVAL);
        ask()
    }

    fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        while Instant::now() < until && !self.is_over() {
            thread::sleep(END_POLL_INTERVAL.min(length));
        }
    }
}

/// Returns whether the scenario publishes, so that the load has its own end before the drain.
fn publishes(scenario: &Scenario) -> bool {
    !scenario.publishers.is_empty() || !scenario.requests.is_empty()
}
