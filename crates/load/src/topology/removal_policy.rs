//! What may be removed.

use std::time::Duration;

use super::{foreign_bindings::ForeignBindings, own_messages::OwnMessages};

/// Timeout for consumers of the run to disappear after their connection has been closed. Chosen.
const CONSUMERS_GONE_TIMEOUT: Duration = Duration::from_secs(5);

/// Which proofs an object needs before it is removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemovalPolicy<'a> {
    /// Only what its marker proves; else what the caller knows to be its own.
    pub(crate) needs_proof: bool,
    /// What becomes of messages.
    pub(crate) messages: Messages,
    /// Tells the messages of a run that has just ended from those of others. Absent: every message
    /// may be somebody else's.
    pub(crate) own_messages: Option<OwnMessages>,
    /// What is known of bindings that others made. Absent: the run has just ended, and they are not
    /// asked about.
    pub(crate) bindings: Option<ForeignBindings<'a>>,
    /// How long to wait for consumers of the caller's own to be gone.
    pub(crate) consumers_gone_timeout: Duration,
}

impl<'a> RemovalPolicy<'a> {
    /// At the end of a run. `needs_proof`: it could mark what it declared.
    pub(crate) const fn at_the_end(
        needs_proof: bool,
        messages: Messages,
        own_messages: Option<OwnMessages>,
    ) -> Self {
        let consumers_gone_timeout = CONSUMERS_GONE_TIMEOUT;
        Self { needs_proof, messages, own_messages, bindings: None, consumers_gone_timeout }
    }

    /// Of a run that has ended.
    pub(super) const fn of_leftovers(messages: Messages, bindings: ForeignBindings<'a>) -> Self {
        Self {
            needs_proof: true,
            messages,
            own_messages: None,
            bindings: Some(bindings),
            consumers_gone_timeout: Duration::ZERO,
        }
    }

    /// A queue goes only when the broker itself finds it empty and unused.
    pub(super) fn keeps_messages(&self) -> bool {
        self.messages == Messages::Keep
    }
}

/// What becomes of messages in queues that are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// A message of others stays, and its queue with it; so do quorum queues and streams, which the
    /// broker deletes whatever they hold.
    Keep,
    /// They go with their queue: a person has asked for it.
    Discard,
}
