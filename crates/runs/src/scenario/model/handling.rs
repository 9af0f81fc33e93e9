//! What a consumer does with a message.

use std::time::Duration;

/// How messages are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// Acknowledged.
    Ack,
    /// Refused, and put back into the queue.
    Requeue,
    /// Refused, and dropped or dead-lettered.
    Discard,
}

/// A processing time that holds for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingStep {
    /// How long a message is held before it is settled.
    pub time: Duration,
    /// For how long that holds; after the last step the first follows.
    pub lasts: Duration,
}
