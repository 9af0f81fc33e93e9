//! How the consumers of a group poll.

use crate::{clock::Nanos, plan::ConsumerPlan};

/// How the consumers of a group poll.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollSettings {
    /// From an answer to the next poll.
    pub(super) interval: Nanos,
    /// The queues were named by the broker for these consumers, and are deleted at the end.
    pub(super) removes_queues: bool,
}

impl PollSettings {
    pub(super) fn of(plan: &ConsumerPlan<'_>) -> Option<Self> {
        let interval = plan.group.polling?.into();
        Some(Self { interval, removes_queues: plan.has_own_queues() })
    }
}
