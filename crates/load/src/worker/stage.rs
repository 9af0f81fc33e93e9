//! The stages of a worker, and its progress in the drain.

use crate::clock::RunInstant;

/// What a worker is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Messages are published. `is_last_pass`: the load is over, but for what is due already.
    Load { is_last_pass: bool },
    /// Confirms are awaited, then consumers receive what is left.
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
    /// Messages delivered in this interval, when that number changed last.
    pub(super) delivered: u64,
    pub(super) delivered_at: RunInstant,
    /// Answers that are awaited and bytes that wait for sockets, when either changed last.
    pub(super) awaited: u64,
    pub(super) unwritten: usize,
    pub(super) moved_at: RunInstant,
    /// When the worker learned that nobody awaits answers any more.
    pub(super) answered_at: Option<RunInstant>,
    /// When the worker learned that the queues are empty.
    pub(super) emptied_at: Option<RunInstant>,
}
