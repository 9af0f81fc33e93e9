//! Clients that do one thing after the other, as their packets show. The crate `workload` finds them in the flows of
//! messages, and `diagnosis` judges them.

/// Clients that do one thing after the other. Absent parts of a case have none of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turns {
    /// Time between the first and the last packet, in seconds.
    pub seconds: f64,
    /// Messages of all publishers, also of those that do not wait. Replies are left out: they follow requests.
    pub published: u64,
    /// Publishers that send when the broker has answered, the one with the most messages first.
    pub publishers: Vec<WaitingPublisher>,
    /// Messages of publishers that have an answer to nearly each message before the next one, and that answers take most
    /// of the time, although nothing shows that they wait for it.
    pub perhaps: u64,
    /// Queues that clients ask for single messages, the one with the most questions first.
    pub polled: Vec<PolledQueue>,
    /// Readers that work most of the time, and that get the next message when they settle one. The one with the most messages
    /// first.
    pub workers: Vec<BusyReader>,
}

/// A reader that works on a message most of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyReader {
    /// The client's end of its connection, `address:port`.
    pub client: String,
    /// Virtual host. Absent if it is unknown.
    pub vhost: Option<String>,
    /// Queue or stream. Absent if it is unknown.
    pub queue: Option<String>,
    /// Is true for a reader by the stream protocol.
    pub reads_stream: bool,
    /// Delivered messages.
    pub messages: u64,
    /// Share of the time in which it has a message that it has not settled, as a client that takes one after the other: 0 to 1.
    pub working: f64,
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
    /// A record of TLS that hides what it is.
    Hidden,
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
    pub fn rate(&self, messages: u64) -> f64 {
        if self.seconds > 0.0 { messages as f64 / self.seconds } else { 0.0 }
    }
}
