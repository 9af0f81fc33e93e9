//! Flags and counters that the threads of a run share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use serde::{Deserialize, Serialize};

use crate::{clock::RunInstant, report::ServiceMonitor};

/// The state that the threads of a run share.
#[derive(Debug, Default)]
pub(crate) struct SharedState {
    /// The load ends; what is outstanding is awaited.
    pub(crate) ending: AtomicBool,
    /// The load ends at once.
    pub(crate) abort: AtomicBool,
    /// The user ended the load: answers are awaited for a short time only.
    pub(crate) was_stopped: AtomicBool,
    /// Publishers that have sent all their messages.
    pub(crate) publishers_done: AtomicUsize,
    /// Consumers that have received all their messages.
    pub(crate) consumers_done: AtomicUsize,
    /// Callers that have had all their replies.
    pub(crate) callers_done: AtomicUsize,
    /// Slots of churn that have closed their last one.
    pub(crate) churners_done: AtomicUsize,
    /// Threads that await confirms; consumers go on while there are any.
    pub(crate) confirming: AtomicUsize,
    /// Other processes of the run may still await confirms.
    pub(crate) others_confirm: AtomicBool,
    /// Load threads that have stopped publishing.
    pub(crate) draining: AtomicUsize,
    /// The queues are empty, or nobody waits for that any longer.
    pub(crate) is_empty: AtomicBool,
    /// The queues may not be empty, and nobody waits for that any longer.
    pub(crate) is_abandoned: AtomicBool,
    /// Lost connections and alarms.
    pub(crate) service: Arc<ServiceMonitor>,
    /// Every thread is done.
    pub(crate) is_over: AtomicBool,
    /// Threads that have begun, and when the last of them did, in nanoseconds.
    started: AtomicUsize,
    last_start: AtomicU64,
}

/// Members that have just come to their end, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct DoneMembers {
    /// Publishers that have sent their last message.
    pub(crate) publishers: usize,
    /// Consumers that have received their last message.
    pub(crate) consumers: usize,
    /// Callers that have had their last reply.
    pub(crate) callers: usize,
    /// Slots of churn that have closed their last one.
    pub(crate) churn_slots: usize,
}

impl SharedState {
    /// A thread begins.
    pub(crate) fn note_start(&self, now: RunInstant) {
        self.last_start.fetch_max(now.nanos(), Ordering::Relaxed);
        // Whoever sees the count sees the time.
        self.started.fetch_add(1, Ordering::Release);
    }

    /// When the last of so many threads began; absent as long as not all of them have.
    pub(crate) fn all_started(&self, threads: usize) -> Option<RunInstant> {
        let is_complete = self.started.load(Ordering::Acquire) >= threads;
        is_complete.then(|| RunInstant::from_nanos(self.last_start.load(Ordering::Relaxed)))
    }

    /// Adds members that have come to their end.
    pub(crate) fn count_done(&self, done: DoneMembers) {
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
