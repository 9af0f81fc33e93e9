//! What may be removed.

use std::time::Duration;

/// Timeout for consumers of the run to disappear after their connection has been closed. Chosen.
const CONSUMERS_GONE_TIMEOUT: Duration = Duration::from_secs(5);

/// Which proofs an object needs before it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemovalPolicy {
    /// Only what its marker proves; else what the caller knows to be its own.
    pub(crate) needs_proof: bool,
    /// Only queues without messages.
    pub(crate) needs_empty: bool,
    /// How long to wait for consumers of the caller's own to be gone.
    pub(crate) consumers_gone_timeout: Duration,
}

impl RemovalPolicy {
    /// At the end of a run that could mark what it declared.
    pub(crate) const MARKED: Self = Self {
        needs_proof: true,
        needs_empty: false,
        consumers_gone_timeout: CONSUMERS_GONE_TIMEOUT,
    };

    /// At the end of a run that could not.
    pub(crate) const UNMARKED: Self = Self {
        needs_proof: false,
        needs_empty: false,
        consumers_gone_timeout: CONSUMERS_GONE_TIMEOUT,
    };

    /// Of a run that has ended.
    pub(super) const fn of_leftovers(messages: Messages) -> Self {
        let needs_empty = matches!(messages, Messages::Keep);
        Self { needs_proof: true, needs_empty, consumers_gone_timeout: Duration::ZERO }
    }
}

/// What becomes of messages in leftovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Queues that hold some are left.
    Keep,
    /// They go with their queue: somebody has asked for it.
    Discard,
}
