//! The contents of a message: its routing key, its body, its properties.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::scenario::model::{
    NumberRange,
    values::{Arguments, size, span},
};

/// Name of the header that carries the time stamp when the body must stay unchanged.
pub const STAMP_HEADER: &str = "rabbitscope-stamp";

/// Size of the time stamp in bytes. It stands at the front of bodies that are large enough.
pub const STAMP_BYTES: u32 = 12;

/// Returns the default size of bodies: the smallest with a stamp.
pub(in crate::scenario::model) fn stamp_bytes() -> u32 {
    STAMP_BYTES
}

/// Routing keys of a group of publishers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingKeys<'a> {
    /// Always the same key.
    Fixed,
    /// The names of the queues that the key stands for.
    QueueNames,
    /// The key with each of these numbers; a publisher takes its share of them in turn.
    Numbered(NumberRange),
    /// These keys; every publisher takes all of them in turn.
    Listed(&'a [String]),
    /// This many random keys, made once from the seed; every publisher takes all of them in turn.
    Random(u32),
}

/// A size that holds for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeStep {
    /// Body size in bytes.
    #[serde(rename = "size", with = "size")]
    pub size_bytes: u32,
    /// Duration of this size; after the last step the first follows.
    #[serde(rename = "for", with = "span")]
    pub lasts: Duration,
}

/// A size with its share of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeShare {
    /// Body size in bytes.
    #[serde(rename = "size", with = "size")]
    pub size_bytes: u32,
    /// Share of the messages, relative to the sum of all shares.
    pub share: f64,
}

/// The contents of bodies that are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyKind {
    /// [`Body::Filler`]
    #[default]
    Filler,
    /// [`Body::Json`]
    Json,
}

/// The contents of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Zero bytes behind the stamp.
    Filler,
    /// JSON documents of about the requested size. This many different ones are made once from the seed and sent in
    /// turn.
    Json {
        /// Number of documents.
        documents: u32,
        /// Number of different fields in the documents, which are at least as large as requested. If absent, fields are
        /// generated for each document, with exactly that size.
        fields: Option<u32>,
    },
    /// The contents of these files in turn.
    Files(&'a [String]),
}

/// Properties of every message of a group, besides `persistent`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
    #[serde(default, with = "span")]
    pub expiration: Option<Duration>,
    /// Message id.
    pub message_id: Option<String>,
    /// Seconds since 1970-01-01 UTC.
    pub timestamp: Option<u64>,
    /// Type name.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// User; the broker checks it.
    pub user_id: Option<String>,
    /// Application.
    pub app_id: Option<String>,
    /// Cluster id, which AMQP 0-9-1 reserves.
    pub cluster_id: Option<String>,
    /// Purpose of the message, which AMQP 1.0 alone has.
    pub subject: Option<String>,
    /// Group of messages, which AMQP 1.0 alone has.
    pub group_id: Option<String>,
    /// Headers. AMQP 1.0 has those with `x-` as annotations, the others as properties of the application.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub headers: Arguments,
}

/// Properties with their share of the messages.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PropertyShare {
    /// Share of the messages, relative to the sum of all shares.
    pub share: f64,
    /// Properties beside those of the group, or in place of them.
    #[serde(default, skip_serializing_if = "MessageProperties::is_empty")]
    pub properties: MessageProperties,
}

impl MessageProperties {
    pub(in crate::scenario) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these properties, and those of `others` that are not among them. Headers are compared one by one.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        let (this, others) = (self.clone(), others.clone());
        let mut headers = others.headers;
        headers.extend(this.headers);
        Self {
            content_type: this.content_type.or(others.content_type),
            content_encoding: this.content_encoding.or(others.content_encoding),
            delivery_mode: this.delivery_mode.or(others.delivery_mode),
            priority: this.priority.or(others.priority),
            correlation_id: this.correlation_id.or(others.correlation_id),
            reply_to: this.reply_to.or(others.reply_to),
            expiration: this.expiration.or(others.expiration),
            message_id: this.message_id.or(others.message_id),
            timestamp: this.timestamp.or(others.timestamp),
            kind: this.kind.or(others.kind),
            user_id: this.user_id.or(others.user_id),
            app_id: this.app_id.or(others.app_id),
            cluster_id: this.cluster_id.or(others.cluster_id),
            subject: this.subject.or(others.subject),
            group_id: this.group_id.or(others.group_id),
            headers,
        }
    }
}

/// The reaction to a missing confirm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnConfirmTimeout {
    /// It is counted.
    #[default]
    Count,
    /// The run ends.
    Fail,
}

/// The reaction to missing confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmTimeout {
    /// Maximum age of the oldest unconfirmed message of a channel.
    pub after: Duration,
    /// A timeout ends the run; otherwise it is only counted.
    pub ends_run: bool,
}
