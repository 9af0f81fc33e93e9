//! The conditions for a removal.

use std::time::Duration;

use super::{foreign_bindings::ForeignBindings, own_messages::OwnMessages};

/// Timeout for consumers of the run to disappear after their connection has been closed. Chosen.
const CONSUMERS_GONE_TIMEOUT: Duration = Duration::from_secs(5);

/// The same for consumers of workers that may go on for long.
const LEFT_CONSUMERS_TIMEOUT: Duration = Duration::from_millis(300);

/// The proofs that an object needs before its removal.
#[derive(Clone, Copy, Debug)]
pub struct RemovalPolicy<'a> {
    /// True: only objects that their markers prove are removed. False: objects that the caller knows to be its own are
    /// removed.
    pub(crate) needs_proof: bool,
    /// Treatment of messages.
    pub messages: Messages,
    /// Distinguishes the messages of a run that has just ended from those of others. Absent: any message may belong to
    /// others.
    pub own_messages: Option<OwnMessages>,
    /// Knowledge about bindings that others made. Absent: the run has just ended, and bindings are not checked.
    pub bindings: Option<ForeignBindings<'a>>,
    /// Timeout for the caller's own consumers to disappear.
    pub(crate) consumers_gone_timeout: Duration,
}

impl<'a> RemovalPolicy<'a> {
    /// The policy at the end of a run. `needs_proof`: the run could mark its declarations.
    pub const fn at_the_end(
        needs_proof: bool,
        messages: Messages,
        own_messages: Option<OwnMessages>,
    ) -> Self {
        let consumers_gone_timeout = match own_messages {
            Some(OwnMessages { has_left_workers: true, .. }) => LEFT_CONSUMERS_TIMEOUT,
            _ => CONSUMERS_GONE_TIMEOUT,
        };
        Self { needs_proof, messages, own_messages, bindings: None, consumers_gone_timeout }
    }

    /// The policy for the leftovers of an ended run.
    pub(super) const fn of_leftovers(messages: Messages, bindings: ForeignBindings<'a>) -> Self {
        Self {
            needs_proof: true,
            messages,
            own_messages: None,
            bindings: Some(bindings),
            consumers_gone_timeout: Duration::ZERO,
        }
    }

    /// Returns whether a queue may be deleted only if the broker itself finds it empty and unused.
    pub(super) fn keeps_messages(&self) -> bool {
        self.messages == Messages::Keep
    }
}

/// Treatment of messages in removed queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// A message of others stays together with its queue. Quorum queues and streams also stay, because the broker
    /// deletes them regardless of their contents.
    Keep,
    /// Messages are deleted with their queue, at a person's request.
    Discard,
}
