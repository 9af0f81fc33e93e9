//! Whether the broker was there: spans without service, spans blocked by an alarm, and what it said.

use serde::{Deserialize, Serialize};

/// When the broker did not serve. How long in all is in [`super::LoadTotals`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Service {
    /// There was no service when the load ended.
    pub ended_without: bool,
    /// In the order in which they began.
    pub spans: Vec<ServiceSpan>,
    /// Further spans, for which there was no room.
    pub spans_left_out: u64,
}

/// Some time of the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServiceSpan {
    /// What it was.
    pub kind: SpanKind,
    /// Nanoseconds since the load began.
    pub from_nanos: u64,
    /// The same.
    pub to_nanos: u64,
    /// Why, in the broker's words where it has said something.
    pub reason: String,
}

/// What was the matter with a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// All connections of publishers and callers were lost, or all of consumers and responders, or all
    /// of churn. This is without service.
    Down,
    /// Whole seconds in which nothing came from the broker although it owed answers all the time. This
    /// is without service, too.
    Silent,
    /// An alarm of the broker blocked at least one connection.
    Blocked,
}

/// An error that a run survived, or that ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorCount {
    /// What kind of error.
    pub kind: ErrorKind,
    /// How often.
    pub count: u64,
    /// The last one, in a sentence.
    pub last: String,
    /// When that was, in nanoseconds since the load began.
    pub last_at_nanos: u64,
}

/// What kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// A connection broke, or nothing came over it for too long.
    ConnectionLost,
    /// The broker closed a connection and said why.
    ConnectionClosed,
    /// The broker closed a channel and said why.
    ChannelClosed,
    /// The broker ended a consumer.
    ConsumerCancelled,
    /// A lost connection could not be made again at once.
    NotReconnected,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// For a person, followed by a number of times.
    pub fn words(self) -> &'static str {
        match self {
            Self::ConnectionLost => "connection lost",
            Self::ConnectionClosed => "connection closed by the broker",
            Self::ChannelClosed => "channel closed by the broker",
            Self::ConsumerCancelled => "consumer ended by the broker",
            Self::NotReconnected => "connection not made again",
            Self::Other => "failed",
        }
    }
}
