//! Requests and replies: callers that wait for an answer, and responders that give it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    AfterPhases, Arrival, Phase, Schedule, WriteMode,
    publishers::stamp_bytes,
    values::{one, size, span, unset},
};

/// Callers with the same settings: each sends a request and waits for the reply.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequestGroup {
    /// Name in the series and on the report.
    #[serde(default)]
    pub name: String,
    /// Number of callers. Each has its own concurrency, rate and count.
    #[serde(default = "one")]
    pub count: u32,
    /// Connections over which the callers are spread; at least 1, at most `count`.
    #[serde(default = "one")]
    pub connections: u32,
    /// Channels for each connection. Callers on one channel share its consumer of replies.
    #[serde(default = "unset")]
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// Path of the replies.
    #[serde(default)]
    pub reply: ReplyPath,
    /// Body size of a request in bytes.
    #[serde(rename = "size", default = "stamp_bytes", with = "size")]
    pub size_bytes: u32,
    /// Delivery mode 2.
    #[serde(default)]
    pub persistent: bool,
    /// Delivery of requests to the socket.
    #[serde(default)]
    pub write: WriteMode,
    /// Maximum number of unanswered requests of a caller; absent for no limit, so that the rate decides.
    pub concurrency: Option<u32>,
    /// Requests per second of each caller; without a schedule, the next is due when there is room for it.
    pub rate: Option<f64>,
    /// Distribution of the requests over time; absent without a schedule.
    pub arrival: Option<Arrival>,
    /// Continuation after the last phase; absent without phases.
    pub after_phases: Option<AfterPhases>,
    /// Number of requests after which a caller stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time after which a request counts as unanswered.
    #[serde(default = "timeout", with = "span")]
    pub timeout: Duration,
    /// Consecutive rates and bursts, instead of `rate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

/// Default timeout: long enough for a busy broker, short enough to be seen within a run.
fn timeout() -> Duration {
    Duration::from_secs(10)
}

impl RequestGroup {
    /// Returns the due times of requests.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self.rate, self.arrival, &self.phases, self.after_phases)
    }

    /// Returns whether the group comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule().ends()
    }
}

/// The path of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyPath {
    /// RabbitMQ's direct reply-to: from channel to channel, without a queue.
    #[default]
    Direct,
    /// An exclusive queue for each channel, named by the broker.
    Queue,
}

/// Responders with the same settings: each answers the requests of a queue.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResponderGroup {
    /// Name in the series and on the report.
    #[serde(default)]
    pub name: String,
    /// Number of responders.
    #[serde(default = "one")]
    pub count: u32,
    /// Connections over which the responders are spread; at least 1, at most `count`.
    #[serde(default = "one")]
    pub connections: u32,
    /// Channels for each connection over which its responders are spread.
    #[serde(default = "unset")]
    pub channels: u32,
    /// Queue of the requests.
    pub queue: String,
    /// `basic.qos` for each responder; absent for unlimited.
    pub prefetch: Option<u16>,
    /// The broker forgets a request as soon as it is sent. Otherwise each request is acknowledged with its reply.
    #[serde(default)]
    pub auto_ack: bool,
    /// Body size of a reply in bytes.
    #[serde(rename = "size", default = "stamp_bytes", with = "size")]
    pub size_bytes: u32,
    /// Delivery of replies, each with its acknowledgement, to the socket.
    #[serde(default)]
    pub write: WriteMode,
}
