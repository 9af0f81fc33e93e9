//! Flags and counters that the threads of a run share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use rabbitscope_timing::RunInstant;
use serde::{Deserialize, Serialize};

use crate::report::ServiceMonitor;

/// The state that the threads of a run share.
#[derive(Debug, Default)]
pub struct SharedState {
    /// The load ends; outstanding answers are still awaited.
    pub ending: AtomicBool,
    /// The load ends at once.
    pub abort: AtomicBool,
    /// The user ended the load: answers are awaited for a short time only.
    pub was_stopped: AtomicBool,
    /// Publishers that have sent all their messages.
    pub publishers_done: AtomicUsize,
    /// Consumers that have received all their messages.
    pub consumers_done: AtomicUsize,
    /// Callers that have received all their replies.
    pub callers_done: AtomicUsize,
    /// Slots of churn that have completed their last cycle.
    pub churners_done: AtomicUsize,
    /// Threads that await confirms. Consumers go on while there are any.
    pub confirming: AtomicUsize,
    /// Other processes of the run may still await confirms.
    pub others_confirm: AtomicBool,
    /// Load threads that have stopped publishing.
    pub draining: AtomicUsize,
    /// The queues are empty, or the run no longer waits for that.
    pub is_empty: AtomicBool,
    /// The queues may not be empty, and the run no longer waits for that.
    pub is_abandoned: AtomicBool,
    /// Lost connections and alarms.
    pub service: Arc<ServiceMonitor>,
    /// Every thread is done.
    pub is_over: AtomicBool,
    /// Threads that have begun.
    started: AtomicUsize,
    /// Start of the latest of these threads, in nanoseconds.
    last_start: AtomicU64,
}

/// Members that have just finished, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct DoneMembers {
    /// Publishers that have sent their last message.
    pub publishers: usize,
    /// Consumers that have received their last message.
    pub consumers: usize,
    /// Callers that have received their last reply.
    pub callers: usize,
    /// Slots of churn that have completed their last cycle.
    pub churn_slots: usize,
}

impl SharedState {
    /// Records the start of a thread.
    pub fn note_start(&self, now: RunInstant) {
        self.last_start.fetch_max(now.nanos(), Ordering::Relaxed);
        // A thread that sees the count also sees the time.
        self.started.fetch_add(1, Ordering::Release);
    }

    /// Returns the start of the last of `threads` threads; absent until all have started.
    pub fn all_started(&self, threads: usize) -> Option<RunInstant> {
        let is_complete = self.started.load(Ordering::Acquire) >= threads;
        is_complete.then(|| RunInstant::from_nanos(self.last_start.load(Ordering::Relaxed)))
    }

    /// Adds members that have finished.
    pub fn count_done(&self, done: DoneMembers) {
        let counts = [
            (&self.publishers_done, done.publishers),
            (&self.consumers_done, done.consumers),
            (&self.callers_done, done.callers),
            (&self.churners_done, done.churn_slots),
        ];
        for (sum, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    }
}
