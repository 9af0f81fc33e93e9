//! What a message is made of: its routing key, its body, its properties.

use std::{collections::BTreeMap, time::Duration};

use super::{FieldValue, NumberRange};

/// Name of the header that carries the time stamp where the body must stay as it is.
pub const STAMP_HEADER: &str = "rabbitscope-stamp";

/// Size of that stamp in bytes. It stands in front of bodies that are as large.
pub const STAMP_BYTES: u32 = 12;

/// Routing keys of a group of publishers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutingKeys {
    /// Always `routing_key`; with the default exchange, the queues of that name.
    Fixed,
    /// The names of the queues that `routing_key` stands for.
    QueueNames,
    /// `routing_key` with each of these numbers; a publisher takes its share of them in turn.
    Numbered(NumberRange),
    /// These; every publisher takes all of them in turn.
    Listed(Vec<String>),
    /// So many random keys, made once from the seed; every publisher takes all of them in turn.
    Random(u32),
}

/// A size that holds for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeStep {
    /// Body size in bytes.
    pub size_bytes: u32,
    /// For how long; after the last step the first follows.
    pub lasts: Duration,
}

/// What bodies hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Zero bytes behind the stamp.
    Filler,
    /// JSON documents of about the size asked for, this many different ones in turn, made once from
    /// the seed.
    Json {
        /// How many.
        documents: u32,
        /// Different fields that documents are made of, at least as large as asked for; absent: made up
        /// for each document, of exactly that size.
        fields: Option<u32>,
    },
    /// The contents of these files in turn.
    Files(Vec<String>),
}

/// Properties of every message of a group, besides `persistent`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageProperties {
    /// MIME type.
    pub content_type: Option<String>,
    /// MIME encoding.
    pub content_encoding: Option<String>,
    /// 1 or 2; absent unless the group is `persistent`.
    pub delivery_mode: Option<u8>,
    /// 0 to 255.
    pub priority: Option<u8>,
    /// Correlation id.
    pub correlation_id: Option<String>,
    /// Queue for replies.
    pub reply_to: Option<String>,
    /// The broker drops the message after this time; whole milliseconds.
    pub expiration: Option<Duration>,
    /// Message id.
    pub message_id: Option<String>,
    /// Seconds since 1970-01-01 UTC.
    pub timestamp: Option<u64>,
    /// Type name.
    pub kind: Option<String>,
    /// User; the broker checks it.
    pub user_id: Option<String>,
    /// Application.
    pub app_id: Option<String>,
    /// Cluster id, which AMQP 0-9-1 reserves.
    pub cluster_id: Option<String>,
    /// Headers.
    pub headers: BTreeMap<String, FieldValue>,
}

/// What happens when nothing is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmTimeout {
    /// The oldest unconfirmed message of a channel is older than this.
    pub after: Duration,
    /// It ends the run; otherwise it is only counted.
    pub ends_run: bool,
}
