//! Publishers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Algorithm, Body, BodyKind, Compression, ConfirmTimeout, MessageProperties, OnConfirmTimeout,
    Packing, PropertyShare, RoutingKeys, STAMP_BYTES, SizeShare, SizeStep, WriteMode,
};
use crate::scenario::model::{
    AfterPhases, Arrival, LatePolicy, MemberQueues, MqttVersion, NumberRange, Phase, Protocol,
    Schedule,
    values::{is_false, one, size, span, time, unset},
};

/// Publishers with the same settings. Checks fill in every value that applies, and leave out all others.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PublisherGroup {
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
    /// A number stands for each topic from its second message on (MQTT 5).
    #[serde(default, skip_serializing_if = "is_false")]
    pub topic_alias: bool,
    /// Topic of MQTT. Checks turn it into `routing_key`.
    #[serde(default, skip_serializing)]
    pub topic: Option<String>,
    /// Several topics of MQTT. Checks turn them into `routing_keys`.
    #[serde(default, skip_serializing)]
    pub topics: Option<Vec<String>>,
    /// Number of publishers. Each has its own confirm window and rate.
    #[serde(default = "one")]
    pub count: u32,
    /// Connections over which the publishers are spread; at least 1, at most `count`.
    #[serde(default = "one")]
    pub connections: u32,
    /// Name of another group whose connections these members use, on channels of their own; absent for own connections.
    pub connections_of: Option<String>,
    /// Channels for each connection over which its publishers are spread.
    #[serde(default = "unset")]
    pub channels: u32,
    /// The queue, or set of queues, whose names are the routing keys.
    pub queue: Option<String>,
    /// Exchange; absent for the default exchange.
    pub exchange: Option<String>,
    /// Routing key of a group without `queue`.
    pub routing_key: Option<String>,
    /// Assignment of the queues or keys to publishers.
    #[serde(default)]
    pub member_queues: MemberQueues,
    /// The first number of a routing key with a placeholder.
    pub from: Option<u32>,
    /// The last number of such a routing key.
    pub to: Option<u32>,
    /// Several routing keys.
    pub routing_keys: Option<Vec<String>>,
    /// Number of random routing keys.
    pub random_routing_keys: Option<u32>,
    /// Shares of the first queues or keys, relative to each other; absent for keys in turn.
    pub key_shares: Option<Vec<f64>>,
    /// Exponent by which the shares of further keys fall (Zipf): the share of key `n` is in proportion to `n` to the
    /// power of the negative exponent.
    pub key_exponent: Option<f64>,
    /// Body size in bytes. Bodies of at least 12 bytes carry the time stamp for end-to-end latency.
    #[serde(default, with = "size")]
    pub size: Option<u32>,
    /// Sizes that change over time, instead of `size`.
    pub sizes: Option<Vec<SizeStep>>,
    /// Sizes with shares, drawn for each message, instead of `size`.
    pub size_shares: Option<Vec<SizeShare>>,
    /// Contents of bodies.
    pub body: Option<BodyKind>,
    /// Number of different JSON documents.
    pub json_bodies: Option<u32>,
    /// Number of different fields in JSON documents.
    pub json_fields: Option<u32>,
    /// Files with the bodies, instead of `body` and `size`.
    pub body_files: Option<Vec<String>>,
    /// Items in each message, if there are several.
    pub items_per_message: Option<u32>,
    /// Compression of bodies.
    pub compression: Option<Algorithm>,
    /// Level in the algorithm's own scale.
    pub compression_level: Option<u32>,
    /// Delivery mode 2; absent if `properties` have a delivery mode.
    pub persistent: Option<bool>,
    /// Messages are confirmed without a limit of unconfirmed ones.
    pub confirms: Option<bool>,
    /// Maximum number of unconfirmed messages of a publisher, or [`NO_WINDOW`]; absent for no confirms.
    #[serde(skip_serializing_if = "is_no_window")]
    pub confirm_window: Option<u32>,
    /// Maximum age of the oldest unconfirmed message of a channel.
    #[serde(default, with = "span")]
    pub confirm_timeout: Option<Duration>,
    /// Reaction to an older one.
    pub on_confirm_timeout: Option<OnConfirmTimeout>,
    /// Messages without a confirm are sent again after their connection was lost; absent without confirms.
    pub republish_unconfirmed: Option<bool>,
    /// The stream takes each message once, also if it is sent again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reference: bool,
    /// Most messages in an entry of a stream, which the stream stores and confirms as one; absent for single messages.
    pub sub_entry_size: Option<u16>,
    /// Values by which readers of a stream can filter, one for each message in turn; empty without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter_values: Vec<String>,
    /// Delivery of messages to the socket.
    #[serde(default)]
    pub write: WriteMode,
    /// Messages in a transaction, committed together; absent for no transactions.
    pub tx_size: Option<u32>,
    /// Unroutable messages are returned.
    #[serde(default)]
    pub mandatory: bool,
    /// Messages per second of each publisher.
    pub rate: Option<f64>,
    /// Time from one message to the next. Checks turn it into `rate`.
    #[serde(default, with = "span", skip_serializing)]
    pub interval: Option<Duration>,
    /// Distribution of the messages over time; absent without a schedule.
    pub arrival: Option<Arrival>,
    /// Continuation after the last phase; absent without phases.
    pub after_phases: Option<AfterPhases>,
    /// Treatment of a message that cannot be sent at its time; absent without a schedule.
    pub late: Option<LatePolicy>,
    /// Number of messages after which a publisher stops; absent for no limit.
    pub messages: Option<u64>,
    /// Time from the start of the load to the first message.
    #[serde(default, with = "time", skip_serializing_if = "Duration::is_zero")]
    pub start_delay: Duration,
    /// Maximum of an additional random delay of each publisher.
    #[serde(default, with = "time", skip_serializing_if = "Duration::is_zero")]
    pub random_start_delay: Duration,
    /// Consecutive rates and bursts, instead of `rate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Properties of every message.
    #[serde(default, skip_serializing_if = "MessageProperties::is_empty")]
    pub properties: MessageProperties,
    /// Further properties with shares, drawn for each message.
    pub property_shares: Option<Vec<PropertyShare>>,
}

/// A confirm window without a limit.
pub const NO_WINDOW: u32 = u32::MAX;

#[allow(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_no_window(window: &Option<u32>) -> bool {
    *window == Some(NO_WINDOW)
}

/// Default number of different JSON documents.
pub(in crate::scenario) const JSON_BODIES: u32 = 100;

impl PublisherGroup {
    /// Returns the exchange; empty is the default exchange.
    pub fn exchange(&self) -> &str {
        self.exchange.as_deref().unwrap_or_default()
    }

    /// Returns the routing key, or the queue that is meant.
    pub fn routing_key(&self) -> &str {
        self.queue.as_deref().or(self.routing_key.as_deref()).unwrap_or_default()
    }

    /// Returns the kind of routing keys.
    pub fn keys(&self) -> RoutingKeys<'_> {
        match (&self.routing_keys, self.random_routing_keys, self.to) {
            _ if self.queue.is_some() => RoutingKeys::QueueNames,
            (Some(keys), _, _) => RoutingKeys::Listed(keys),
            (None, Some(count), _) => RoutingKeys::Random(count),
            (None, None, Some(to)) => RoutingKeys::Numbered(NumberRange::new(self.from, to)),
            (None, None, None) => RoutingKeys::Fixed,
        }
    }

    /// Returns the shares of this many queues or keys, relative to each other. Absent if they take turns.
    pub fn shares_of_keys(&self, count: usize) -> Option<Vec<f64>> {
        if self.key_shares.is_none() && self.key_exponent.is_none() {
            return None;
        }
        let given = self.key_shares.as_deref().unwrap_or(&[1.0]);
        let last = given.last().copied().unwrap_or(1.0);
        let exponent = self.key_exponent.unwrap_or(0.0);
        let further = |key: usize| last * (given.len() as f64 / key as f64).powf(exponent);
        let all = given.iter().copied().chain((given.len() + 1..).map(further));
        Some(all.take(count).collect())
    }

    /// Returns the body size in bytes, the first of several.
    pub fn size_bytes(&self) -> u32 {
        self.body_sizes().next().unwrap_or(STAMP_BYTES)
    }

    /// Returns all body sizes in bytes; at most one if they are always the same.
    pub fn body_sizes(&self) -> impl Iterator<Item = u32> {
        let steps = self.size_steps().iter().map(|step| step.size_bytes);
        let shares = self.size_shares.iter().flatten().map(|share| share.size_bytes);
        steps.chain(shares).chain(self.size)
    }

    /// Returns the properties of messages with their shares.
    pub fn all_properties(&self) -> Vec<(f64, MessageProperties)> {
        let drawn = |share: &PropertyShare| (share.share, share.properties.or(&self.properties));
        let shares = self.property_shares.as_ref();
        shares.map_or_else(
            || vec![(1.0, self.properties.clone())],
            |shares| shares.iter().map(drawn).collect(),
        )
    }

    /// Returns whether all bodies are the same.
    pub fn has_one_body(&self) -> bool {
        self.sizes.is_none() && self.size_shares.is_none() && self.body() == Body::Filler
    }

    /// Returns the sizes that change over time; empty if there is only one.
    pub fn size_steps(&self) -> &[SizeStep] {
        self.sizes.as_deref().unwrap_or_default()
    }

    /// Returns the contents of bodies.
    pub fn body(&self) -> Body<'_> {
        match (&self.body_files, self.body) {
            (Some(files), _) => Body::Files(files),
            (None, Some(BodyKind::Json)) => Body::Json {
                documents: self.json_bodies.unwrap_or(JSON_BODIES),
                fields: self.json_fields,
            },
            (None, _) => Body::Filler,
        }
    }

    /// Returns the number of items in a message, and their compression. With sub-entries, these are compressed instead.
    pub fn packing(&self) -> Packing {
        let compression = self.compression.map(|algorithm| {
            let (_, _, usual) = algorithm.levels();
            Compression { algorithm, level: self.compression_level.unwrap_or(usual) }
        });
        Packing { items: self.items_per_message.unwrap_or(1), compression }
    }

    /// Returns whether bodies are packed for each message.
    pub fn is_packed(&self) -> bool {
        self.sub_entry_size.is_none() && self.packing().is_packed()
    }

    /// Returns whether messages are persistent (delivery mode 2).
    pub fn is_persistent(&self) -> bool {
        self.persistent.unwrap_or(self.properties.delivery_mode == Some(2))
    }

    /// Returns whether the broker confirms messages or commits transactions.
    pub fn has_confirms(&self) -> bool {
        self.confirm_window.or(self.tx_size).is_some()
    }

    /// Returns the reaction to missing confirms.
    pub fn confirm_timeout(&self) -> Option<ConfirmTimeout> {
        let ends_run = self.on_confirm_timeout == Some(OnConfirmTimeout::Fail);
        self.confirm_timeout.map(|after| ConfirmTimeout { after, ends_run })
    }

    /// Returns the due times of messages.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self.rate, self.arrival, &self.phases, self.after_phases)
    }

    /// Replaces the schedule with a constant rate, in messages per second of each publisher.
    pub fn publish_steadily(&mut self, rate: f64) {
        (self.rate, self.arrival) = (Some(rate), Some(Arrival::Constant));
        self.phases.clear();
        self.after_phases = None;
        self.late.get_or_insert_default();
    }

    /// Returns whether the group comes to an end by itself.
    pub fn ends(&self) -> bool {
        self.messages.is_some() || self.schedule().ends()
    }

    /// Returns whether every body has room for a stamp, or travels with one in a header.
    pub fn is_stamped(&self) -> bool {
        self.has_stamp_headers() || self.body_sizes().all(|size| size >= STAMP_BYTES)
    }

    /// Returns whether the body must stay unchanged, so that the time stamp travels in a header.
    pub fn has_stamp_headers(&self) -> bool {
        self.body() != Body::Filler || self.is_packed()
    }
}
