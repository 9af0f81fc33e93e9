//! Requests and replies: callers that wait for an answer, and responders that give it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Schedule, WriteMode};

/// Callers with the same settings: each sends a request and waits for the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of callers. Each has its own concurrency, rate and count.
    pub count: u32,
    /// Connections over which the callers are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection. Callers on one channel share its consumer of replies.
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// Path of the replies.
    pub reply: ReplyPath,
    /// Body size of a request in bytes.
    pub size_bytes: u32,
    /// Delivery mode 2.
    pub persistent: bool,
    /// Delivery of requests to the socket.
    pub write: WriteMode,
    /// Maximum number of unanswered requests of a caller; absent for no limit, so that the rate decides.
    pub concurrency: Option<u32>,
    /// Due times of requests; without a schedule, the next is due when there is room for it.
    pub schedule: Schedule,
    /// Number of requests after which a caller stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time after which a request counts as unanswered.
    pub timeout: Duration,
}

impl RequestGroup {
    /// Returns whether the group comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule.ends()
    }
}

/// The path of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyPath {
    /// RabbitMQ's direct reply-to: from channel to channel, without a queue.
    Direct,
    /// An exclusive queue for each channel, named by the broker.
    Queue,
}

/// Responders with the same settings: each answers the requests of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponderGroup {
    /// Name in the series and on the report.
    pub name: String,
    /// Number of responders.
    pub count: u32,
    /// Connections over which the responders are spread; at least 1, at most `count`.
    pub connections: u32,
    /// Channels for each connection over which its responders are spread.
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// `basic.qos` for each responder; absent for unlimited.
    pub prefetch: Option<u16>,
    /// The broker forgets a request as soon as it is sent. Otherwise each request is acknowledged with its reply.
    pub auto_ack: bool,
    /// Body size of a reply in bytes.
    pub size_bytes: u32,
    /// Delivery of replies, each with its acknowledgement, to the socket.
    pub write: WriteMode,
}
