//! Methods that the broker sends.

use std::borrow::Cow;

use crate::{
    error::{ConnectionError, Malformed, Refusal},
    protocol::methods::{self, MethodId},
    table::Table,
    wire::Reader,
};

/// Any method that the broker sends.
#[derive(Debug)]
pub(crate) enum ServerMethod<'a> {
    Start { version: (u8, u8), properties: Table, mechanisms: String },
    Tune { channel_max: u16, frame_max: u32, heartbeat: u16 },
    OpenOk,
    Close(Refusal),
    CloseOk,
    Blocked { reason: String },
    Unblocked,
    UpdateSecretOk,
    ChannelOpenOk,
    ChannelFlow { active: bool },
    ChannelClose(Refusal),
    ChannelCloseOk,
    Content(ContentMethod<'a>),
    Cancel { consumer_tag: String },
    GetEmpty,
    Ack { delivery_tag: u64, multiple: bool },
    Nack { delivery_tag: u64, multiple: bool },
    Reply(Reply),
}

/// A method with a message behind it. Strings are unconverted bytes.
#[derive(Clone, Debug)]
pub(crate) enum ContentMethod<'a> {
    Deliver {
        consumer_tag: Cow<'a, [u8]>,
        delivery_tag: u64,
        redelivered: bool,
        exchange: Cow<'a, [u8]>,
        routing_key: Cow<'a, [u8]>,
    },
    GetOk {
        delivery_tag: u64,
        redelivered: bool,
        exchange: Cow<'a, [u8]>,
        routing_key: Cow<'a, [u8]>,
        messages: u32,
    },
    Return {
        code: u16,
        text: String,
        exchange: Cow<'a, [u8]>,
        routing_key: Cow<'a, [u8]>,
    },
}

/// The answer to a [`super::Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// `exchange.declare-ok`
    ExchangeDeclared,
    /// `exchange.delete-ok`
    ExchangeDeleted,
    /// `exchange.bind-ok`
    ExchangeBound,
    /// `exchange.unbind-ok`
    ExchangeUnbound,
    /// `queue.declare-ok`
    QueueDeclared {
        /// Name of the queue, which the broker may have chosen.
        queue: String,
        /// Number of ready messages.
        messages: u32,
        /// Number of consumers.
        consumers: u32,
    },
    /// `queue.bind-ok`
    QueueBound,
    /// `queue.unbind-ok`
    QueueUnbound,
    /// `queue.purge-ok`
    QueuePurged {
        /// Number of messages dropped.
        messages: u32,
    },
    /// `queue.delete-ok`
    QueueDeleted {
        /// Number of messages deleted with the queue.
        messages: u32,
    },
    /// `basic.qos-ok`
    QosSet,
    /// `basic.consume-ok`
    Consuming {
        /// Tag of the consumer, which the broker may have chosen.
        consumer_tag: String,
    },
    /// `basic.cancel-ok`
    Cancelled {
        /// Tag of the consumer.
        consumer_tag: String,
    },
    /// `basic.recover-ok`
    Recovered,
    /// `channel.flow-ok`
    FlowSet {
        /// Messages flow.
        active: bool,
    },
    /// `confirm.select-ok`
    ConfirmsSelected,
    /// `tx.select-ok`
    TxSelected,
    /// `tx.commit-ok`
    TxCommitted,
    /// `tx.rollback-ok`
    TxRolledBack,
}

impl<'a> ServerMethod<'a> {
    #[inline]
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Self, ConnectionError> {
        let mut reader = Reader::new(payload);
        let numbers = reader.u16().and_then(|class| Ok((class, reader.u16()?)));
        let id = numbers.map_err(ConnectionError::method)?;
        let parsed = match id.0 {
            methods::BASIC => basic(id, &mut reader),
            methods::CONNECTION => connection(id, &mut reader),
            _ => other(id, &mut reader),
        };
        let unknown = ConnectionError::UnknownMethod { class_id: id.0, method_id: id.1 };
        parsed.map_err(ConnectionError::method)?.ok_or(unknown)
    }
}

type Parsed<'a> = Result<Option<ServerMethod<'a>>, Malformed>;

/// Parses a method of class `basic`. Frequent methods come first.
#[inline]
fn basic<'a>(id: MethodId, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match id {
        methods::BASIC_DELIVER => ServerMethod::Content(ContentMethod::Deliver {
            consumer_tag: Cow::Borrowed(reader.short_bytes()?),
            delivery_tag: reader.u64()?,
            redelivered: reader.u8()? & 1 != 0,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
        }),
        methods::BASIC_ACK => {
            ServerMethod::Ack { delivery_tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 }
        }
        methods::BASIC_NACK => {
            ServerMethod::Nack { delivery_tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 }
        }
        methods::BASIC_RETURN => ServerMethod::Content(ContentMethod::Return {
            code: reader.u16()?,
            text: reader.short_text()?,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
        }),
        methods::BASIC_GET_OK => ServerMethod::Content(ContentMethod::GetOk {
            delivery_tag: reader.u64()?,
            redelivered: reader.u8()? & 1 != 0,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
            messages: reader.u32()?,
        }),
        methods::BASIC_GET_EMPTY => ServerMethod::GetEmpty,
        methods::BASIC_CANCEL => ServerMethod::Cancel { consumer_tag: reader.short_text()? },
        methods::BASIC_QOS_OK => ServerMethod::Reply(Reply::QosSet),
        methods::BASIC_CONSUME_OK => {
            ServerMethod::Reply(Reply::Consuming { consumer_tag: reader.short_text()? })
        }
        methods::BASIC_CANCEL_OK => {
            ServerMethod::Reply(Reply::Cancelled { consumer_tag: reader.short_text()? })
        }
        methods::BASIC_RECOVER_OK => ServerMethod::Reply(Reply::Recovered),
        _ => return Ok(None),
    }))
}

fn connection<'a>(id: MethodId, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match id {
        methods::CONNECTION_START => ServerMethod::Start {
            version: (reader.u8()?, reader.u8()?),
            properties: Table::read(reader)?,
            mechanisms: String::from_utf8_lossy(reader.long_bytes()?).into_owned(),
        },
        methods::CONNECTION_TUNE => ServerMethod::Tune {
            channel_max: reader.u16()?,
            frame_max: reader.u32()?,
            heartbeat: reader.u16()?,
        },
        methods::CONNECTION_OPEN_OK => ServerMethod::OpenOk,
        methods::CONNECTION_CLOSE => ServerMethod::Close(refusal(reader)?),
        methods::CONNECTION_CLOSE_OK => ServerMethod::CloseOk,
        methods::CONNECTION_BLOCKED => ServerMethod::Blocked { reason: reader.short_text()? },
        methods::CONNECTION_UNBLOCKED => ServerMethod::Unblocked,
        methods::CONNECTION_UPDATE_SECRET_OK => ServerMethod::UpdateSecretOk,
        _ => return Ok(None),
    }))
}

/// Parses a method of a class with few methods from the broker.
fn other<'a>(id: MethodId, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match id {
        methods::CHANNEL_OPEN_OK => ServerMethod::ChannelOpenOk,
        methods::CHANNEL_FLOW => ServerMethod::ChannelFlow { active: reader.u8()? & 1 != 0 },
        methods::CHANNEL_CLOSE => ServerMethod::ChannelClose(refusal(reader)?),
        methods::CHANNEL_CLOSE_OK => ServerMethod::ChannelCloseOk,
        _ => return Ok(reply(id, reader)?.map(ServerMethod::Reply)),
    }))
}

fn reply(id: MethodId, reader: &mut Reader<'_>) -> Result<Option<Reply>, Malformed> {
    Ok(Some(match id {
        methods::CHANNEL_FLOW_OK => Reply::FlowSet { active: reader.u8()? & 1 != 0 },
        methods::EXCHANGE_DECLARE_OK => Reply::ExchangeDeclared,
        methods::EXCHANGE_DELETE_OK => Reply::ExchangeDeleted,
        methods::EXCHANGE_BIND_OK => Reply::ExchangeBound,
        methods::EXCHANGE_UNBIND_OK => Reply::ExchangeUnbound,
        methods::QUEUE_DECLARE_OK => Reply::QueueDeclared {
            queue: reader.short_text()?,
            messages: reader.u32()?,
            consumers: reader.u32()?,
        },
        methods::QUEUE_BIND_OK => Reply::QueueBound,
        methods::QUEUE_PURGE_OK => Reply::QueuePurged { messages: reader.u32()? },
        methods::QUEUE_DELETE_OK => Reply::QueueDeleted { messages: reader.u32()? },
        methods::QUEUE_UNBIND_OK => Reply::QueueUnbound,
        methods::CONFIRM_SELECT_OK => Reply::ConfirmsSelected,
        methods::TX_SELECT_OK => Reply::TxSelected,
        methods::TX_COMMIT_OK => Reply::TxCommitted,
        methods::TX_ROLLBACK_OK => Reply::TxRolledBack,
        _ => return Ok(None),
    }))
}

fn refusal(reader: &mut Reader<'_>) -> Result<Refusal, Malformed> {
    Ok(Refusal {
        code: reader.u16()?,
        text: reader.short_text()?,
        class_id: reader.u16()?,
        method_id: reader.u16()?,
    })
}

impl ContentMethod<'_> {
    pub(crate) fn into_owned(self) -> ContentMethod<'static> {
        fn own(bytes: Cow<'_, [u8]>) -> Cow<'static, [u8]> {
            Cow::Owned(bytes.into_owned())
        }
        match self {
            Self::Deliver { consumer_tag, delivery_tag, redelivered, exchange, routing_key } => {
                ContentMethod::Deliver {
                    consumer_tag: own(consumer_tag),
                    delivery_tag,
                    redelivered,
                    exchange: own(exchange),
                    routing_key: own(routing_key),
                }
            }
            Self::GetOk { delivery_tag, redelivered, exchange, routing_key, messages } => {
                ContentMethod::GetOk {
                    delivery_tag,
                    redelivered,
                    exchange: own(exchange),
                    routing_key: own(routing_key),
                    messages,
                }
            }
            Self::Return { code, text, exchange, routing_key } => ContentMethod::Return {
                code,
                text,
                exchange: own(exchange),
                routing_key: own(routing_key),
            },
        }
    }
}
