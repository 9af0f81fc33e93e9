//! How the consumers of a group poll.

use crate::{clock::nanos, plan::ConsumerPlan};

/// How the consumers of a group ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollSettings {
    /// From an answer to the next question, in nanoseconds.
    pub(super) interval: u64,
    /// Queues that the broker named and nobody else knows go away with their pollers.
    pub(super) removes_queues: bool,
}

impl PollSettings {
    pub(super) fn of(plan: &ConsumerPlan<'_>) -> Option<Self> {
        let interval = nanos(plan.group.polling?);
        Some(Self { interval, removes_queues: plan.has_own_queues() })
    }
}
