//! How the consumers of a group poll.

use crate::{clock::nanos, plan::ConsumerPlan};

/// How the consumers of a group poll.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollSettings {
    /// From an answer to the next poll, in nanoseconds.
    pub(super) interval: u64,
    /// The queues were named by the broker for these consumers, and are deleted at the end.
    pub(super) removes_queues: bool,
}

impl PollSettings {
    pub(super) fn of(plan: &ConsumerPlan<'_>) -> Option<Self> {
        let interval = nanos(plan.group.polling?);
        Some(Self { interval, removes_queues: plan.has_own_queues() })
    }
}
