//! The times at which a worker serves the schedules of its links.

use std::time::Duration;

use rabbitscope_timing::RunInstant;

use super::ready_links::ReadyLinks;
use crate::pacing::{BurstLimiter, DueQueue, Pacer};

/// The schedules of a worker.
pub(super) struct PacingState {
    /// Links whose next message is due at a scheduled time.
    due_queue: DueQueue,
    pub(super) pacer: Pacer,
    pub(super) limiter: BurstLimiter,
    /// Earliest due time among the links that are ready because of their schedules.
    ready_due: Option<RunInstant>,
}

impl PacingState {
    /// Creates the state. `step` is the interval between passes, if the scenario sets it.
    pub(super) fn new(links: usize, step: Option<Duration>) -> Self {
        Self {
            due_queue: DueQueue::new(links),
            pacer: Pacer::new(step),
            limiter: BurstLimiter::new(step),
            ready_due: None,
        }
    }

    /// Earliest time at which a link that waits for its schedule may send.
    pub(super) fn next_due(&self) -> Option<RunInstant> {
        self.due_queue.first().map(|due| due.max(self.pacer.pace_at()))
    }

    /// Schedules a message of `link` at `due`.
    pub(super) fn put(&mut self, link: usize, due: RunInstant) {
        self.due_queue.put(link, due);
    }

    /// Moves due links to the ready ones.
    pub(super) fn wake_due(&mut self, now: RunInstant, ready: &mut ReadyLinks) {
        if now < self.pacer.pace_at() {
            return;
        }
        let first = self.due_queue.first().into_iter().chain(self.ready_due).min();
        self.limiter.nothing_before(first, now);
        while let Some(link) = self.due_queue.take(now) {
            ready.push(link);
            self.ready_due = first;
        }
    }

    /// Ends a pass, in which every ready link has been served.
    pub(super) fn end_pass(&mut self, now: RunInstant) {
        self.ready_due = None;
        self.pacer.end_pass(now);
    }

    /// Releases all due messages when the load ends. These include messages that were held back, or fell due while the
    /// thread had no CPU.
    pub(super) fn release(&mut self, now: RunInstant) {
        self.limiter.release(now);
        self.pacer.hurry();
    }
}
