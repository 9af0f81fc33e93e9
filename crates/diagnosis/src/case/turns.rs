//! Clients that do one thing after the other, as their packets show.

/// Clients that do one thing after the other. Absent parts of a case have none of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turns {
    /// Time between the first and the last packet, in seconds.
    pub seconds: f64,
    /// Messages of all publishers, also of those that do not wait.
    pub published: u64,
    /// Publishers that send when the broker has answered, the one with the most messages first.
    pub publishers: Vec<WaitingPublisher>,
    /// Queues that clients ask for single messages, the one with the most questions first.
    pub polled: Vec<PolledQueue>,
}

/// An answer that a publisher waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of the broker to a message.
    Confirm,
    /// Of the broker to `tx.commit`.
    Commit,
    /// Of another client to a request.
    Reply,
}

/// A publisher that sends when the broker has answered.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingPublisher {
    /// The client's end of its connection, `address:port`.
    pub client: String,
    /// Messages.
    pub messages: u64,
    /// The answer that it waits for.
    pub answer: Answer,
    /// Most messages without a confirm. Absent if they are unknown.
    pub window: Option<u32>,
    /// Share of the time between messages in which it waits, 0 to 1. The rest is its own.
    pub waiting: f64,
}

/// A queue that clients ask for single messages with `basic.get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledQueue {
    /// Virtual host. Absent if it is unknown.
    pub vhost: Option<String>,
    /// Name.
    pub queue: String,
    /// The end of the client that asks most, `address:port`.
    pub client: String,
    /// Questions.
    pub gets: u64,
    /// Questions that found the queue empty.
    pub empty: u64,
}

impl Turns {
    /// Returns messages per second.
    pub(crate) fn rate(&self, messages: u64) -> f64 {
        if self.seconds > 0.0 { messages as f64 / self.seconds } else { 0.0 }
    }
}
