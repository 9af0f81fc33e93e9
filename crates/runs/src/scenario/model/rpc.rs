//! Requests and replies: callers that wait for an answer, and responders that give it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Schedule, WriteMode};

/// Callers that do the same: each sends a request and waits for the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of callers. Each has its own concurrency, rate and count.
    pub count: u32,
    /// Connections over which they are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection. Callers on one channel share its consumer of replies.
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// How replies come back.
    pub reply: ReplyPath,
    /// Body size of a request in bytes.
    pub size_bytes: u32,
    /// Delivery mode 2.
    pub persistent: bool,
    /// How requests are handed to the socket.
    pub write: WriteMode,
    /// Requests without a reply that a caller may have; absent: no limit, the rate decides.
    pub concurrency: Option<u32>,
    /// When requests are due; without a schedule, the next when there is room for it.
    pub schedule: Schedule,
    /// Requests for each caller, after which it stops; absent: no limit.
    pub messages: Option<u64>,
    /// A request counts as unanswered after this time.
    pub timeout: Duration,
}

impl RequestGroup {
    /// It comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule.ends()
    }
}

/// The way of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyPath {
    /// RabbitMQ's direct reply-to: from channel to channel, without a queue.
    Direct,
    /// An exclusive queue for each channel, named by the broker.
    Queue,
}

/// Responders that do the same: each answers the requests of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponderGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of responders.
    pub count: u32,
    /// Connections over which they are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its responders are spread.
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// `basic.qos` for each responder; absent: unlimited.
    pub prefetch: Option<u16>,
    /// The broker forgets a request when it is sent. Otherwise each is acknowledged with its reply.
    pub auto_ack: bool,
    /// Body size of a reply in bytes.
    pub size_bytes: u32,
    /// How replies, each with its acknowledgement, are handed to the socket.
    pub write: WriteMode,
}
