//! Poll settings of the consumers of a group.

use rabbitscope_timing::Nanos;

use crate::plan::ConsumerPlan;

/// Poll settings of the consumers of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollSettings {
    /// Time from an answer to the next poll.
    pub(super) interval: Nanos,
    /// True if the broker named the queues for these consumers. Such queues are deleted at the end.
    pub(super) removes_queues: bool,
}

impl PollSettings {
    pub(super) fn from_plan(plan: &ConsumerPlan<'_>) -> Option<Self> {
        let interval = plan.group.polled_every()?.into();
        Some(Self { interval, removes_queues: plan.has_own_queues() })
    }
}
