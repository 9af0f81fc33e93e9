//! The stages of a worker, and its progress in the drain.

use rabbitscope_timing::RunInstant;

/// A stage of a worker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Messages are published. `is_last_pass`: the load is over except for messages that are already due.
    Load { is_last_pass: bool },
    /// Confirms are awaited. Then consumers receive the messages that are left.
    Drain { since: RunInstant, is_confirming: bool },
    /// Connections are closed.
    Close { since: RunInstant },
}

impl Stage {
    pub(super) fn is_load(self) -> bool {
        matches!(self, Self::Load { .. })
    }
}

/// Answers and deliveries during the drain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DrainProgress {
    /// Messages delivered in this interval, at the last change of that number.
    pub(super) delivered: u64,
    pub(super) delivered_at: RunInstant,
    /// Awaited answers and bytes that wait for sockets, at the last change of either.
    pub(super) awaited: u64,
    pub(super) unwritten: usize,
    pub(super) moved_at: RunInstant,
    /// Time at which the worker learned that no worker awaits answers any more.
    pub(super) answered_at: Option<RunInstant>,
    /// Time at which the worker learned that the queues are empty.
    pub(super) emptied_at: Option<RunInstant>,
}
