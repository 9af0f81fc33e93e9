//! The actions of clients and brokers. Names are bytes as they were sent; AMQP says that they are UTF-8.

use super::{
    filters::Filters,
    links::{Attach, Chunk, Joined, StoredOffset},
    properties::Content,
    table::Arguments,
};

/// An action. Its fields are those of the specification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<'a> {
    /// `connection.start-ok`, `open` of AMQP 1.0, `peer-properties` of streams.
    Start(Client<'a>),
    /// CONNECT of MQTT.
    Connect(Connect<'a>),
    /// `connection.tune-ok`
    Tune(Tune),
    /// `connection.open`, `open` of AMQP 1.0 or of streams, with the virtual host.
    Open(&'a [u8]),
    /// `connection.close`, or DISCONNECT of MQTT.
    Close,
    /// `channel.open`
    ChannelOpen,
    /// `channel.close`, from either side.
    ChannelClose,
    /// `exchange.declare`
    ExchangeDeclare(ExchangeDeclare<'a>),
    /// `queue.declare`
    QueueDeclare(QueueDeclare<'a>),
    /// `queue.declare-ok`, with the name of the queue.
    QueueDeclared(&'a [u8]),
    /// `queue.delete`, with the name of the queue.
    QueueDelete(&'a [u8]),
    /// `queue.bind`
    QueueBind(Binding<'a>),
    /// `exchange.bind`
    ExchangeBind(Binding<'a>),
    /// `basic.qos`
    Qos(Qos),
    /// `basic.consume`
    Consume(Consume<'a>),
    /// `basic.consume-ok`, with the consumer tag.
    Consuming(&'a [u8]),
    /// `basic.cancel`, with the consumer tag; from either side.
    Cancel(&'a [u8]),
    /// SUBSCRIBE of MQTT: the begin of a reader, or more filters for it.
    Subscribe(Filters<'a>),
    /// UNSUBSCRIBE of MQTT.
    Unsubscribe,
    /// `attach` of AMQP 1.0, `declare-publisher` or `subscribe` of streams.
    Attach(Attach<'a>),
    /// The first transfer of a link of AMQP 1.0 without an `attach`. The message follows.
    Joined(Joined),
    /// `detach` or `end` of AMQP 1.0, from either side; `delete-publisher` or `unsubscribe` of streams, or the broker's
    /// refusal of a publisher or a reader.
    Detach,
    /// `flow` of AMQP 1.0: messages that the broker may send. `credit` of streams: further chunks.
    Credit(u32),
    /// `basic.get`
    Get(Get<'a>),
    /// `basic.get-empty`
    GetEmpty,
    /// `basic.publish`, with its content, or PUBLISH of a client.
    Publish(Published<'a>),
    /// `basic.deliver` or `basic.get-ok`, with its content, or PUBLISH of the broker.
    Deliver(Delivered<'a>),
    /// `deliver` of streams.
    Chunk(Chunk),
    /// `basic.return`, with its content.
    Return(Returned<'a>),
    /// `basic.ack`, `basic.nack` or `basic.reject`, or PUBACK. Those of the broker are confirms.
    Settle(Settled),
    /// `disposition` of AMQP 1.0; `publish-confirm` or `publish-error` of streams.
    SettleRange(SettledRange),
    /// `store-offset` of streams.
    StoreOffset(StoredOffset<'a>),
    /// `basic.recover` or `basic.recover-async`: all unacknowledged messages are delivered again.
    Recover {
        /// True if other consumers may get them.
        requeue: bool,
    },
    /// `confirm.select`
    ConfirmSelect,
    /// `tx.select`
    TxSelect,
    /// `tx.commit`
    TxCommit,
    /// `tx.commit-ok`
    TxCommitted,
    /// `tx.rollback`
    TxRollback,
    /// A record of TLS with data of the application: bytes of its encrypted content.
    Record(u64),
    /// PINGREQ of MQTT, an empty frame of AMQP 1.0, `heartbeat` of streams.
    Ping,
}

/// The client's program, as it introduces itself. Texts are empty where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client<'a> {
    /// Name of the program or library.
    pub product: &'a [u8],
    /// Its version.
    pub version: &'a [u8],
    /// Its language or runtime.
    pub platform: &'a [u8],
    /// Name of the group of a scenario, if the client is a load of this program.
    pub group: Option<&'a [u8]>,
}

/// CONNECT of MQTT, without user, password and will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Level of the protocol: 3, 4 for MQTT 3.1.1, 5.
    pub level: u8,
    /// The client id; empty if the broker chooses it. At most 256 bytes of it.
    pub client_id: &'a [u8],
    /// True if the session outlives the connection.
    pub is_persistent: bool,
    /// True if the broker shall publish a message when the connection breaks.
    pub has_will: bool,
    /// Receive Maximum of MQTT 5, the limit of unacknowledged messages; none without one.
    pub receive_maximum: Option<u16>,
}

/// `connection.tune-ok`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tune {
    /// Highest channel number, 0 for no limit.
    pub channel_max: u16,
    /// Largest frame in bytes, 0 for no limit.
    pub frame_max: u32,
    /// Seconds between heartbeats, 0 for none.
    pub heartbeat: u16,
}

/// `exchange.declare`
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the method")]
pub struct ExchangeDeclare<'a> {
    /// Name of the exchange.
    pub exchange: &'a [u8],
    /// Its type.
    pub kind: &'a [u8],
    /// True if the exchange must exist already.
    pub passive: bool,
    /// True if it survives a restart of the broker.
    pub durable: bool,
    /// True if it goes away with its last binding.
    pub auto_delete: bool,
    /// True if it takes messages of exchanges only.
    pub internal: bool,
    /// Its arguments.
    pub arguments: Arguments<'a>,
}

/// `queue.declare`
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the method")]
pub struct QueueDeclare<'a> {
    /// Name of the queue; empty if the broker chooses it.
    pub queue: &'a [u8],
    /// True if the queue must exist already.
    pub passive: bool,
    /// True if it survives a restart of the broker.
    pub durable: bool,
    /// True if it belongs to the connection.
    pub exclusive: bool,
    /// True if it goes away with its last consumer.
    pub auto_delete: bool,
    /// Its arguments.
    pub arguments: Arguments<'a>,
}

/// `queue.bind` or `exchange.bind`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binding<'a> {
    /// Queue or exchange that gets the messages; empty for the last declared queue of the channel.
    pub destination: &'a [u8],
    /// Exchange that routes them.
    pub source: &'a [u8],
    /// Key of the binding.
    pub routing_key: &'a [u8],
    /// Arguments of the binding.
    pub arguments: Arguments<'a>,
}

/// `basic.qos`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// Number of unacknowledged messages, 0 for no limit.
    pub prefetch_count: u16,
    /// Bytes of unacknowledged messages, 0 for no limit.
    pub prefetch_size: u32,
    /// True if the limit is that of the channel. Otherwise it is that of each later consumer (RabbitMQ's meaning).
    pub global: bool,
}

/// `basic.consume`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Consume<'a> {
    /// Name of the queue; empty for the last declared queue of the channel.
    pub queue: &'a [u8],
    /// The consumer tag; empty if the broker chooses it.
    pub consumer_tag: &'a [u8],
    /// True if deliveries need no acknowledgement.
    pub no_ack: bool,
    /// True if no other consumer may read the queue.
    pub exclusive: bool,
    /// True if the client wants no answer.
    pub no_wait: bool,
    /// Arguments of the consumer.
    pub arguments: Arguments<'a>,
}

/// `basic.get`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Get<'a> {
    /// Name of the queue; empty for the last declared queue of the channel.
    pub queue: &'a [u8],
    /// True if the delivery needs no acknowledgement.
    pub no_ack: bool,
}

/// A published message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published<'a> {
    /// Name of the exchange; empty for the default exchange. Of AMQP 1.0 the message's own address; empty without one.
    pub exchange: &'a [u8],
    /// The routing key. Of AMQP 1.0 the subject. Empty with streams.
    pub routing_key: &'a [u8],
    /// True if a message without a route is returned.
    pub mandatory: bool,
    /// Number by which the broker confirms the message, from 1 on and without a gap. Absent if nothing confirms it, and
    /// with AMQP 0-9-1, where numbers are not on the wire.
    pub number: Option<u64>,
    /// Size and properties.
    pub content: Content,
}

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered<'a> {
    /// The consumer tag; none for `basic.get-ok`. Of AMQP 1.0 the broker's handle of the link, in digits.
    pub consumer_tag: Option<&'a [u8]>,
    /// The tag that acknowledgements name; 0 if the message needs none by MQTT.
    pub delivery_tag: u64,
    /// True if the message was delivered before.
    pub redelivered: bool,
    /// Name of the exchange.
    pub exchange: &'a [u8],
    /// The routing key.
    pub routing_key: &'a [u8],
    /// Size and properties.
    pub content: Content,
}

/// A message without a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned<'a> {
    /// The broker's code.
    pub reply_code: u16,
    /// Name of the exchange.
    pub exchange: &'a [u8],
    /// The routing key.
    pub routing_key: &'a [u8],
    /// Size and properties.
    pub content: Content,
}

/// `basic.ack`, `basic.nack` or `basic.reject`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// A delivery's tag, or a publish's number.
    pub delivery_tag: u64,
    /// True if all up to the tag are settled.
    pub multiple: bool,
    /// The method.
    pub settlement: Settlement,
}

/// Outcomes of messages with successive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledRange {
    /// The first number, of [`Published::number`] or [`Delivered::delivery_tag`].
    pub first: u64,
    /// The last number.
    pub last: u64,
    /// The outcome.
    pub settlement: Settlement,
}

/// A method that settles messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Settlement {
    /// `basic.ack`
    Ack,
    /// `basic.nack`
    Nack {
        /// True if the message goes back into the queue.
        requeue: bool,
    },
    /// `basic.reject`
    Reject {
        /// True if the message goes back into the queue.
        requeue: bool,
    },
}
