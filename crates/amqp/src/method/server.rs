//! Methods that the broker sends.

use std::borrow::Cow;

use super::class::{BASIC, CHANNEL, CONFIRM, CONNECTION, EXCHANGE, QUEUE, TX};
use crate::{
    error::{ConnectionError, Malformed, Refusal},
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
        let (class, method) = numbers.map_err(ConnectionError::method)?;
        let parsed = match class {
            BASIC => basic(method, &mut reader),
            CONNECTION => connection(method, &mut reader),
            CHANNEL => channel(method, &mut reader),
            QUEUE => queue(method, &mut reader),
            _ => Ok(without_fields(class, method)),
        };
        let unknown = ConnectionError::UnknownMethod { class_id: class, method_id: method };
        parsed.map_err(ConnectionError::method)?.ok_or(unknown)
    }
}

type Parsed<'a> = Result<Option<ServerMethod<'a>>, Malformed>;

/// Parses a method of class `basic`. Frequent methods come first.
#[inline]
fn basic<'a>(method: u16, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match method {
        60 => ServerMethod::Content(ContentMethod::Deliver {
            consumer_tag: Cow::Borrowed(reader.short_bytes()?),
            delivery_tag: reader.u64()?,
            redelivered: reader.u8()? & 1 != 0,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
        }),
        80 => ServerMethod::Ack { delivery_tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 },
        120 => ServerMethod::Nack { delivery_tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 },
        50 => ServerMethod::Content(ContentMethod::Return {
            code: reader.u16()?,
            text: reader.short_text()?,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
        }),
        71 => ServerMethod::Content(ContentMethod::GetOk {
            delivery_tag: reader.u64()?,
            redelivered: reader.u8()? & 1 != 0,
            exchange: Cow::Borrowed(reader.short_bytes()?),
            routing_key: Cow::Borrowed(reader.short_bytes()?),
            messages: reader.u32()?,
        }),
        72 => ServerMethod::GetEmpty,
        30 => ServerMethod::Cancel { consumer_tag: reader.short_text()? },
        11 => ServerMethod::Reply(Reply::QosSet),
        21 => ServerMethod::Reply(Reply::Consuming { consumer_tag: reader.short_text()? }),
        31 => ServerMethod::Reply(Reply::Cancelled { consumer_tag: reader.short_text()? }),
        111 => ServerMethod::Reply(Reply::Recovered),
        _ => return Ok(None),
    }))
}

fn connection<'a>(method: u16, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match method {
        10 => ServerMethod::Start {
            version: (reader.u8()?, reader.u8()?),
            properties: Table::read(reader)?,
            mechanisms: String::from_utf8_lossy(reader.long_bytes()?).into_owned(),
        },
        30 => ServerMethod::Tune {
            channel_max: reader.u16()?,
            frame_max: reader.u32()?,
            heartbeat: reader.u16()?,
        },
        41 => ServerMethod::OpenOk,
        50 => ServerMethod::Close(refusal(reader)?),
        51 => ServerMethod::CloseOk,
        60 => ServerMethod::Blocked { reason: reader.short_text()? },
        61 => ServerMethod::Unblocked,
        _ => return Ok(None),
    }))
}

fn channel<'a>(method: u16, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(match method {
        11 => ServerMethod::ChannelOpenOk,
        20 => ServerMethod::ChannelFlow { active: reader.u8()? & 1 != 0 },
        21 => ServerMethod::Reply(Reply::FlowSet { active: reader.u8()? & 1 != 0 }),
        40 => ServerMethod::ChannelClose(refusal(reader)?),
        41 => ServerMethod::ChannelCloseOk,
        _ => return Ok(None),
    }))
}

fn queue<'a>(method: u16, reader: &mut Reader<'a>) -> Parsed<'a> {
    Ok(Some(ServerMethod::Reply(match method {
        11 => Reply::QueueDeclared {
            queue: reader.short_text()?,
            messages: reader.u32()?,
            consumers: reader.u32()?,
        },
        21 => Reply::QueueBound,
        31 => Reply::QueuePurged { messages: reader.u32()? },
        41 => Reply::QueueDeleted { messages: reader.u32()? },
        51 => Reply::QueueUnbound,
        _ => return Ok(None),
    })))
}

fn without_fields(class: u16, method: u16) -> Option<ServerMethod<'static>> {
    Some(ServerMethod::Reply(match (class, method) {
        (EXCHANGE, 11) => Reply::ExchangeDeclared,
        (EXCHANGE, 21) => Reply::ExchangeDeleted,
        (EXCHANGE, 31) => Reply::ExchangeBound,
        (EXCHANGE, 51) => Reply::ExchangeUnbound,
        (CONFIRM, 11) => Reply::ConfirmsSelected,
        (TX, 11) => Reply::TxSelected,
        (TX, 21) => Reply::TxCommitted,
        (TX, 31) => Reply::TxRolledBack,
        _ => return None,
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
