//! Consumers, and their handling of messages.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    FieldValue, MemberQueues, MqttVersion, Protocol, SourceFilter,
    values::{Arguments, is_false, is_one, is_true, one, size, span, time, unset, yes},
};

/// Argument with the values of messages that a consumer wants of a stream.
pub(in crate::scenario) const STREAM_FILTER: &str = "x-stream-filter";

/// Argument that makes a consumer want messages without a value as well.
pub(in crate::scenario) const STREAM_MATCH_UNFILTERED: &str = "x-stream-match-unfiltered";

/// Consumers with the same settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario")]
pub struct ConsumerGroup {
    /// Name in the series and on the report.
    #[serde(default)]
    pub name: String,
    /// Protocol of the connections.
    #[serde(default, skip_serializing_if = "Protocol::is_default")]
    pub protocol: Protocol,
    /// Version of MQTT; absent without it.
    pub mqtt_version: Option<MqttVersion>,
    /// Quality of service of MQTT; absent without it.
    pub qos: Option<u8>,
    /// Filters of topics to which each consumer subscribes by MQTT, in place of `queue`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Number of consumers.
    #[serde(default = "one")]
    pub count: u32,
    /// Connections over which the consumers are spread; at least 1, at most `count`.
    #[serde(default = "one")]
    pub connections: u32,
    /// Name of another group whose connections these members use, on channels of their own; absent for own connections.
    pub connections_of: Option<String>,
    /// Channels for each connection over which its consumers are spread.
    #[serde(default = "unset")]
    pub channels: u32,
    /// The queue that the consumers read, or the set of queues over which they are spread; empty with `topics`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub queue: String,
    /// Assignment of these queues to consumers.
    #[serde(default)]
    pub member_queues: MemberQueues,
    /// Chunks of a stream that the broker may send ahead; absent without the stream protocol.
    pub credit: Option<u16>,
    /// Name under which a stream stores the offsets of the consumers; absent if it stores none.
    pub consumer_name: Option<String>,
    /// Messages of a subscription from one stored offset to the next; absent without `consumer_name`.
    pub store_every: Option<u32>,
    /// Of the consumers with this name, one at a time reads a stream.
    #[serde(default, skip_serializing_if = "is_false")]
    pub single_active_consumer: bool,
    /// The super stream over whose partitions the broker spreads active consumers; absent for single streams.
    pub super_stream: Option<String>,
    /// Values of messages that the consumers want of a stream. Checks move it into `arguments`.
    #[serde(skip_serializing)]
    pub filter_values: Option<Vec<String>>,
    /// Messages without a value are wanted as well. Checks move it into `arguments`.
    #[serde(skip_serializing)]
    pub match_unfiltered: Option<bool>,
    /// `basic.qos` for each consumer; absent for unlimited.
    pub prefetch: Option<u16>,
    /// `basic.qos` for each channel; absent for unlimited.
    pub channel_prefetch: Option<u16>,
    /// The broker forgets a message as soon as it is sent.
    #[serde(default)]
    pub auto_ack: bool,
    /// Number of messages acknowledged with one frame; 1 acknowledges each.
    #[serde(default = "one")]
    pub multi_ack_every: u32,
    /// Messages are refused.
    #[serde(default)]
    pub nack: bool,
    /// Refused messages go back into the queue; absent without `nack`.
    pub requeue: Option<bool>,
    /// Share of the messages that are refused; absent for all, or none without `nack`.
    pub nack_share: Option<f64>,
    /// Share of the refused messages that go back into the queue; absent where all are treated alike.
    pub requeue_share: Option<f64>,
    /// Messages in a transaction, whose acknowledgements are committed together.
    pub tx_size: Option<u32>,
    /// Messages per second for each consumer; absent for as fast as possible.
    pub rate: Option<f64>,
    /// Time for which each message is held before it is settled.
    #[serde(default, with = "time")]
    pub processing_time: Option<Duration>,
    /// Processing times that change over time, instead of `processing_time`.
    pub processing_times: Option<Vec<ProcessingStep>>,
    /// Processing times with shares, drawn for each message, instead of `processing_time`.
    pub processing_time_shares: Option<Vec<ProcessingShare>>,
    /// Messages that a consumer processes at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub concurrency: u32,
    /// The message that is published for each processed one; absent for none.
    pub forward: Option<Forward>,
    /// Consumers ask for each message (`basic.get`) instead of consuming.
    pub polling: Option<bool>,
    /// Time from the last answer to the next `basic.get`; absent without `polling`.
    #[serde(default, with = "time")]
    pub poll_interval: Option<Duration>,
    /// Priority of the consumers. Checks move it into `arguments`.
    #[serde(skip_serializing)]
    pub priority: Option<i64>,
    /// Position in a stream. Checks move it into `arguments`.
    #[serde(skip_serializing)]
    pub offset: Option<FieldValue>,
    /// No other consumer may read the queue.
    #[serde(default)]
    pub exclusive: bool,
    /// Messages are unpacked when they arrive, if publishers of the scenario pack them.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub unpack: bool,
    /// Number of messages after which a consumer stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time from the start of the load to the first consumer.
    #[serde(default, with = "time", skip_serializing_if = "Duration::is_zero")]
    pub start_delay: Duration,
    /// Time from one consumer of the group to the next.
    #[serde(default, with = "time", skip_serializing_if = "Duration::is_zero")]
    pub slow_start: Duration,
    /// Conditions under which the broker sends a message by AMQP 1.0.
    #[serde(default, skip_serializing_if = "SourceFilter::is_empty")]
    pub filter: SourceFilter,
    /// Arguments of `basic.consume`, such as `x-stream-offset`.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub arguments: Arguments,
}

/// A processing time that holds for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProcessingStep {
    /// Time for which a message is held before it is settled.
    #[serde(with = "time")]
    pub time: Duration,
    /// Duration of this step; after the last step the first follows.
    #[serde(rename = "for", with = "span")]
    pub lasts: Duration,
}

/// A processing time with its share of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProcessingShare {
    /// Time for which a message is held before it is settled.
    #[serde(with = "time")]
    pub time: Duration,
    /// Share of the messages, relative to the sum of all shares.
    pub share: f64,
}

/// The message that a consumer publishes for each that it has processed, right before it acknowledges that one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Forward {
    /// The queue, or set of queues in turn, that gets it through the default exchange.
    pub queue: Option<String>,
    /// The exchange that gets it.
    pub exchange: Option<String>,
    /// Its routing key, with `exchange`; absent for an empty one.
    pub routing_key: Option<String>,
    /// Body size in bytes; absent for that of the processed message.
    #[serde(default, with = "size")]
    pub size: Option<u32>,
    /// Delivery mode 2.
    #[serde(default, skip_serializing_if = "is_false")]
    pub persistent: bool,
    /// Share of the processed messages that have one; absent for all.
    pub share: Option<f64>,
}

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

impl ConsumerGroup {
    /// Returns the settlement of messages.
    pub fn settle(&self) -> Settle {
        match (self.nack, self.requeue) {
            (false, _) => Settle::Ack,
            (true, Some(false)) => Settle::Discard,
            (true, _) => Settle::Requeue,
        }
    }

    /// Returns the values of messages that the consumers want; empty if they want all.
    pub fn wanted_values(&self) -> Vec<&str> {
        match self.arguments.get(STREAM_FILTER) {
            Some(FieldValue::Text(value)) => vec![value],
            Some(FieldValue::Array(values)) => values.iter().filter_map(FieldValue::text).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether messages without a value are wanted as well.
    pub fn wants_unfiltered(&self) -> bool {
        self.arguments.get(STREAM_MATCH_UNFILTERED) == Some(&FieldValue::Bool(true))
    }

    /// Returns whether the consumers subscribe by MQTT before the load begins, so that they miss none of its messages.
    pub fn is_subscribed_from_the_start(&self) -> bool {
        let is_early = self.start_delay.is_zero() && self.slow_start.is_zero();
        self.protocol == Protocol::Mqtt && is_early
    }

    /// Returns the time from the last answer to the next `basic.get`, if consumers ask for each message.
    pub fn polled_every(&self) -> Option<Duration> {
        (self.polling == Some(true)).then(|| self.poll_interval.unwrap_or_default())
    }

    /// Returns the processing times that change over time; empty if there is only one.
    pub fn processing_steps(&self) -> &[ProcessingStep] {
        self.processing_times.as_deref().unwrap_or_default()
    }

    /// Returns whether the broker leaves messages out for consumers of AMQP 1.0.
    pub fn has_filter(&self) -> bool {
        self.arguments.contains_key(STREAM_FILTER) || !self.filter.is_empty()
    }

    /// Returns whether messages have a processing time.
    pub fn is_processing(&self) -> bool {
        self.processing_time.is_some()
            || self.processing_times.is_some()
            || self.processing_time_shares.is_some()
    }
}
