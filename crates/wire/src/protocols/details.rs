//! What is read of a frame's contents: what latencies and findings need. Texts are kept as lengths and hashes only.

/// What was read of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Details {
    /// Nothing but its kind.
    #[default]
    None,
    /// AMQP 0-9-1: any method without a variant of its own.
    Method {
        /// Class and method as AMQP numbers them.
        number: (u16, u16),
        /// The sender wants no answer.
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
    /// Stream protocol: `publish`, `publish-confirm`, `publish-error`; ids stand in [`super::Frame::identifiers`].
    StreamPublish(StreamPublish),
    /// Stream protocol: `deliver`
    StreamChunk(StreamChunk),
    /// Stream protocol: a command that is answered, or an answer.
    StreamCommand(StreamCommand),
    /// MQTT: a packet with its quality of service (of `PUBLISH`) and identifier, 0 where it has none.
    Mqtt {
        /// 0, 1 or 2.
        quality_of_service: u8,
        /// The packet identifier.
        identifier: u16,
    },
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
    /// A message that is not routed is returned.
    pub mandatory: bool,
}

/// `basic.deliver`, or `basic.get-ok`, which has no consumer tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Hash of the consumer tag.
    pub consumer_tag: Option<u64>,
    /// The tag that acknowledgements name.
    pub delivery_tag: u64,
    /// The message was delivered before.
    pub redelivered: bool,
    /// Bytes of the exchange's name.
    pub exchange_bytes: u8,
    /// Bytes of the routing key.
    pub routing_key_bytes: u8,
    /// Hash of the routing key.
    pub routing_key: u64,
    /// The routing key is one of RabbitMQ's direct reply-to.
    pub is_direct_reply: bool,
}

/// `basic.consume` and its answer, and `basic.get`, which has no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consume {
    /// Hash of the consumer tag; none where the broker is to choose it.
    pub consumer_tag: Option<u64>,
    /// Deliveries need no acknowledgement; only in the request.
    pub auto_ack: bool,
    /// The client wants no answer.
    pub no_wait: bool,
}

/// `basic.ack`, `basic.nack`, `basic.reject`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// A delivery's tag, or a publish's number.
    pub tag: u64,
    /// All up to the tag.
    pub multiple: bool,
    /// Accepted or not.
    pub outcome: Outcome,
}

/// How a message is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Accepted, acknowledged or confirmed.
    Accepted,
    /// Refused, for good or to be sent again.
    Refused,
}

/// A content header of AMQP 0-9-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHeader {
    /// Bytes of the body, in as many frames as it takes.
    pub body_bytes: u64,
    /// The message outlives the broker's end.
    pub is_persistent: bool,
    /// Hash of the correlation id.
    pub correlation_id: Option<u64>,
    /// Hash of the reply-to address.
    pub reply_to: Option<u64>,
    /// The reply-to address is RabbitMQ's direct reply-to, as requests name it: without a token.
    pub wants_direct_reply: bool,
    /// All properties were read. What stands behind the first 4,096 bytes is not.
    pub is_read: bool,
}

/// `transfer` of AMQP 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The link.
    pub handle: u32,
    /// The delivery's number; later transfers of a delivery may lack it.
    pub delivery_id: Option<u32>,
    /// Bytes of the delivery's tag.
    pub delivery_tag_bytes: Option<u32>,
    /// Settled when it is sent.
    pub settled: bool,
    /// More transfers of the delivery follow.
    pub more: bool,
    /// The delivery is given up.
    pub aborted: bool,
    /// Bytes of the message in this frame.
    pub payload_bytes: u32,
}

/// `disposition` of AMQP 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disposition {
    /// The sender of this frame received the deliveries.
    pub is_receiver: bool,
    /// The first delivery.
    pub first: u32,
    /// The last delivery, the first if it stands alone.
    pub last: u32,
    /// No more is said about them.
    pub settled: bool,
    /// What became of them; none: nothing yet.
    pub outcome: Option<Outcome>,
}

/// `publish`, `publish-confirm` or `publish-error` of the stream protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPublish {
    /// The publisher's number on its connection.
    pub publisher: u8,
    /// Entries as the frame counts them: messages, or batches of messages.
    pub entries: u32,
    /// Messages, those in batches included.
    pub messages: u64,
    /// Ids that are not in [`super::Frame::identifiers`].
    pub left_out: u32,
}

/// `deliver` of the stream protocol: a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamChunk {
    /// The subscription's number on its connection.
    pub subscription: u8,
    /// Entries: messages, or batches of messages.
    pub entries: u16,
    /// Messages, those in batches included.
    pub messages: u32,
    /// Offset of the first message in the stream.
    pub first_offset: u64,
}

/// A command of the stream protocol that is answered, or the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCommand {
    /// Its key, without the bit of answers.
    pub key: u16,
    /// Its version.
    pub version: u16,
    /// It is an answer.
    pub is_response: bool,
    /// What links answer and command; none where the command is not answered.
    pub correlation: Option<u32>,
}
