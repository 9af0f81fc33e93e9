//! Contents of frames, as far as latencies and findings need them. Strings are kept only as lengths and hashes.

/// The content that was read of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Details {
    /// Only the kind is known.
    #[default]
    None,
    /// AMQP 0-9-1: any method without a variant of its own.
    Method {
        /// Class and method as AMQP numbers them.
        number: (u16, u16),
        /// True if the sender wants no answer.
        no_wait: bool,
    },
    /// AMQP 0-9-1: `basic.publish`
    Publish(Publish),
    /// AMQP 0-9-1: `basic.deliver`, `basic.get-ok`
    Delivery(Delivery),
    /// AMQP 0-9-1: `basic.return`
    Return,
    /// AMQP 0-9-1: `basic.consume`, `basic.consume-ok`, `basic.get`
    Consume(Consume),
    /// AMQP 0-9-1: `basic.ack`, `basic.nack`, `basic.reject`
    Settlement(Settlement),
    /// AMQP 0-9-1: a content header.
    Header(ContentHeader),
    /// AMQP 0-9-1: a part of a body, with its bytes.
    Body(u32),
    /// AMQP 1.0: `begin`, with the channel of the peer's session that it answers.
    Begin(Option<u16>),
    /// AMQP 1.0: `transfer`
    Transfer(Transfer),
    /// AMQP 1.0: `disposition`
    Disposition(Disposition),
    /// Stream protocol: `publish`, `publish-confirm`, `publish-error`; ids are in [`super::Frame::identifiers`].
    StreamPublish(StreamPublish),
    /// Stream protocol: `deliver`
    StreamChunk(StreamChunk),
    /// Stream protocol: a command with an answer, or an answer.
    StreamCommand(StreamCommand),
    /// MQTT: a packet.
    Mqtt(MqttPacket),
}

/// A packet of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MqttPacket {
    /// 0, 1 or 2, of `PUBLISH`.
    pub quality_of_service: u8,
    /// The packet identifier, 0 without one.
    pub identifier: u16,
    /// True if a `PUBLISH` may have been sent before.
    pub is_repeated: bool,
    /// True if the broker shall keep a message for later subscribers, or has kept it.
    pub is_retained: bool,
    /// Bytes of the body of a `PUBLISH`. While the level is unknown, they contain the properties of MQTT 5.
    pub body_bytes: u32,
    /// The protocol's level: 3, 4 for MQTT 3.1.1, or 5; none if it is unknown. That of a CONNACK of MQTT 3.1 is 4.
    pub level: Option<u8>,
}

/// `basic.publish`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish {
    /// Bytes of the exchange's name.
    pub exchange_bytes: u8,
    /// Bytes of the routing key.
    pub routing_key_bytes: u8,
    /// Hash of the routing key.
    pub routing_key: u64,
    /// True if a message without a route is returned.
    pub mandatory: bool,
}

/// `basic.deliver`, or `basic.get-ok`, which has no consumer tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Hash of the consumer tag.
    pub consumer_tag: Option<u64>,
    /// The tag that acknowledgements name.
    pub delivery_tag: u64,
    /// True if the message was delivered before.
    pub redelivered: bool,
    /// Bytes of the exchange's name.
    pub exchange_bytes: u8,
    /// Bytes of the routing key.
    pub routing_key_bytes: u8,
    /// Hash of the routing key.
    pub routing_key: u64,
    /// True if the routing key is one of RabbitMQ's direct reply-to.
    pub is_direct_reply: bool,
}

/// `basic.consume` and its answer, and `basic.get`, which has no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consume {
    /// Hash of the consumer tag; none if the broker chooses it.
    pub consumer_tag: Option<u64>,
    /// True if deliveries need no acknowledgement; only in the request.
    pub auto_ack: bool,
    /// True if the client wants no answer.
    pub no_wait: bool,
}

/// `basic.ack`, `basic.nack`, `basic.reject`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// A delivery's tag, or a publish's number.
    pub tag: u64,
    /// True if all up to the tag are settled.
    pub multiple: bool,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Accepted, acknowledged or confirmed.
    Accepted,
    /// Refused, permanently or for redelivery.
    Refused,
}

/// A content header of AMQP 0-9-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHeader {
    /// Bytes of the body, over all its frames.
    pub body_bytes: u64,
    /// True if the message survives a restart of the broker.
    pub is_persistent: bool,
    /// Hash of the correlation id.
    pub correlation_id: Option<u64>,
    /// Hash of the reply-to address.
    pub reply_to: Option<u64>,
    /// True if the reply-to address is RabbitMQ's direct reply-to in the form of a request: without a token.
    pub wants_direct_reply: bool,
    /// True if all properties were read. Properties after the first 4,096 bytes are not.
    pub is_read: bool,
}

/// `transfer` of AMQP 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The link.
    pub handle: u32,
    /// The delivery's number; later transfers of the same delivery may lack it.
    pub delivery_id: Option<u32>,
    /// Bytes of the delivery's tag.
    pub delivery_tag_bytes: Option<u32>,
    /// True if it is settled when it is sent.
    pub settled: bool,
    /// True if more transfers of the delivery follow.
    pub more: bool,
    /// True if the delivery is aborted.
    pub aborted: bool,
    /// Bytes of the message in this frame.
    pub payload_bytes: u32,
    /// The sections before the body, of the first frame of a message; none if they are longer, or have another form.
    pub sections: Option<Sections>,
}

/// The sections of a message of AMQP 1.0 before its body, without their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// `durable` of the header; none without a header.
    pub durable: Option<bool>,
    /// `priority`
    pub priority: Option<u8>,
    /// `ttl` in milliseconds.
    pub ttl: Option<u32>,
    /// Number of annotations and of properties of the application.
    pub entries: u16,
    /// Bytes of their keys and values.
    pub entry_bytes: u32,
    /// Bytes of the other properties, as far as they are texts. The address and the subject do not count.
    pub text_bytes: u16,
    /// Bytes of the message before the bytes of the body.
    pub before_body: u32,
}

/// `disposition` of AMQP 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disposition {
    /// True if the sender of this frame received the deliveries.
    pub is_receiver: bool,
    /// The first delivery.
    pub first: u32,
    /// The last delivery; equal to the first if there is only one.
    pub last: u32,
    /// True if the deliveries are settled.
    pub settled: bool,
    /// Their outcome; none if there is none yet.
    pub outcome: Option<Outcome>,
    /// Number of the descriptor of their state: 0x24 for accepted, 0x25 rejected, 0x26 released, 0x27 modified.
    pub state: Option<u8>,
}

/// `publish`, `publish-confirm` or `publish-error` of the stream protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamPublish {
    /// The publisher's number on its connection.
    pub publisher: u8,
    /// Entries in the frame: messages, or batches of messages.
    pub entries: u32,
    /// Messages, including those in batches.
    pub messages: u64,
    /// Ids that are not in [`super::Frame::identifiers`].
    pub left_out: u32,
    /// True if the messages of a `publish` have values by which readers filter.
    pub has_filters: bool,
}

/// `deliver` of the stream protocol: a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamChunk {
    /// The subscription's number on its connection.
    pub subscription: u8,
    /// Entries: messages, or batches of messages.
    pub entries: u16,
    /// Messages, including those in batches.
    pub messages: u32,
    /// Offset of the first message in the stream.
    pub first_offset: u64,
    /// Bytes of the entries.
    pub data_bytes: u32,
}

/// A command of the stream protocol with an answer, or the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCommand {
    /// Its key, without the response bit.
    pub key: u16,
    /// Its version.
    pub version: u16,
    /// True if it is an answer.
    pub is_response: bool,
    /// Id that links answer and command; none for commands without an answer.
    pub correlation: Option<u32>,
}
