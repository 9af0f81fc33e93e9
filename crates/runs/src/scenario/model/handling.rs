//! The handling of messages by a consumer.

use std::time::Duration;

/// The settlement of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Acknowledge the message.
    Ack,
    /// Refuse the message and put it back into the queue.
    Requeue,
    /// Refuse the message and drop or dead-letter it.
    Discard,
}

/// A processing time that holds for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingStep {
    /// Time for which a message is held before it is settled.
    pub time: Duration,
    /// Duration of this step; after the last step the first follows.
    pub lasts: Duration,
}
