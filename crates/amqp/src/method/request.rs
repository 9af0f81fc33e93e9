//! Methods that a client sends.

use rabbitscope_protocol::Write as _;

use crate::{
    frame::{FrameKind, write_frame},
    protocol::methods::{self, MethodId},
    table::Table,
    wire::WriteStrings as _,
};

/// A method on a channel. All but [`Request::Get`] and the acknowledgements are answered by a [`super::Reply`].
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the AMQP specification")]
pub enum Request<'a> {
    /// Creates an exchange, or checks that it exists (`passive`).
    ExchangeDeclare {
        exchange: &'a str,
        kind: &'a str,
        passive: bool,
        durable: bool,
        auto_delete: bool,
        internal: bool,
        arguments: &'a Table,
    },
    /// Deletes an exchange.
    ExchangeDelete { exchange: &'a str, if_unused: bool },
    /// Binds an exchange to another.
    ExchangeBind {
        destination: &'a str,
        source: &'a str,
        routing_key: &'a str,
        arguments: &'a Table,
    },
    /// Removes a binding between exchanges.
    ExchangeUnbind {
        destination: &'a str,
        source: &'a str,
        routing_key: &'a str,
        arguments: &'a Table,
    },
    /// Creates a queue, or checks that it exists (`passive`). For an empty name the broker chooses one.
    QueueDeclare {
        queue: &'a str,
        passive: bool,
        durable: bool,
        exclusive: bool,
        auto_delete: bool,
        arguments: &'a Table,
    },
    /// Binds a queue to an exchange.
    QueueBind { queue: &'a str, exchange: &'a str, routing_key: &'a str, arguments: &'a Table },
    /// Removes a binding.
    QueueUnbind { queue: &'a str, exchange: &'a str, routing_key: &'a str, arguments: &'a Table },
    /// Drops the ready messages of a queue.
    QueuePurge { queue: &'a str },
    /// Deletes a queue.
    QueueDelete { queue: &'a str, if_unused: bool, if_empty: bool },
    /// Limits unacknowledged messages, for each new consumer or (`global`) for the channel.
    Qos { prefetch: u16, global: bool },
    /// Starts a consumer. For an empty tag the broker chooses one.
    Consume {
        queue: &'a str,
        consumer_tag: &'a str,
        no_local: bool,
        auto_ack: bool,
        exclusive: bool,
        arguments: &'a Table,
    },
    /// Ends a consumer.
    Cancel { consumer_tag: &'a str },
    /// Asks for one message.
    Get { queue: &'a str, auto_ack: bool },
    /// Acknowledges one message or (`multiple`) all up to it.
    Ack { delivery_tag: u64, multiple: bool },
    /// Refuses one message or (`multiple`) all up to it.
    Nack { delivery_tag: u64, multiple: bool, requeue: bool },
    /// Refuses one message.
    Reject { delivery_tag: u64, requeue: bool },
    /// Asks for redelivery of all unacknowledged messages.
    Recover { requeue: bool },
    /// Lets messages flow (`active`), as they do on a new channel: RabbitMQ changes nothing, and answers in turn.
    Flow { active: bool },
    /// Switches the channel to confirm mode.
    ConfirmSelect,
    /// Makes the channel transactional.
    TxSelect,
    /// Commits a transaction.
    TxCommit,
    /// Rolls back a transaction.
    TxRollback,
}

/// Appends `request` as a frame.
pub(crate) fn write_request(out: &mut Vec<u8>, channel: u16, request: &Request<'_>) {
    write_method(out, channel, request.id(), |out| request.write_fields(out));
}

/// Appends a method whose arguments `write` appends.
fn write_method(out: &mut Vec<u8>, channel: u16, id: MethodId, write: impl FnOnce(&mut Vec<u8>)) {
    write_frame(out, FrameKind::Method, channel, |out| {
        out.put_u16(id.0);
        out.put_u16(id.1);
        write(out);
    });
}

/// Appends `basic.publish`. The frames of the message must follow it.
pub(crate) fn write_publish(
    out: &mut Vec<u8>,
    channel: u16,
    exchange: &str,
    routing_key: &str,
    mandatory: bool,
) {
    write_method(out, channel, methods::BASIC_PUBLISH, |out| {
        out.put_u16(0);
        out.put_short(exchange);
        out.put_short(routing_key);
        out.put_bits(&[mandatory, false]);
    });
}

impl Request<'_> {
    fn id(&self) -> MethodId {
        match self {
            Self::ExchangeDeclare { .. } => methods::EXCHANGE_DECLARE,
            Self::ExchangeDelete { .. } => methods::EXCHANGE_DELETE,
            Self::ExchangeBind { .. } => methods::EXCHANGE_BIND,
            Self::ExchangeUnbind { .. } => methods::EXCHANGE_UNBIND,
            Self::QueueDeclare { .. } => methods::QUEUE_DECLARE,
            Self::QueueBind { .. } => methods::QUEUE_BIND,
            Self::QueuePurge { .. } => methods::QUEUE_PURGE,
            Self::QueueDelete { .. } => methods::QUEUE_DELETE,
            Self::QueueUnbind { .. } => methods::QUEUE_UNBIND,
            Self::Qos { .. } => methods::BASIC_QOS,
            Self::Consume { .. } => methods::BASIC_CONSUME,
            Self::Cancel { .. } => methods::BASIC_CANCEL,
            Self::Get { .. } => methods::BASIC_GET,
            Self::Ack { .. } => methods::BASIC_ACK,
            Self::Reject { .. } => methods::BASIC_REJECT,
            Self::Recover { .. } => methods::BASIC_RECOVER,
            Self::Nack { .. } => methods::BASIC_NACK,
            Self::Flow { .. } => methods::CHANNEL_FLOW,
            Self::ConfirmSelect => methods::CONFIRM_SELECT,
            Self::TxSelect => methods::TX_SELECT,
            Self::TxCommit => methods::TX_COMMIT,
            Self::TxRollback => methods::TX_ROLLBACK,
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::ExchangeDeclare { .. }
            | Self::ExchangeDelete { .. }
            | Self::ExchangeBind { .. }
            | Self::ExchangeUnbind { .. } => self.write_exchange(out),
            Self::QueueDeclare { .. }
            | Self::QueueBind { .. }
            | Self::QueueUnbind { .. }
            | Self::QueuePurge { .. }
            | Self::QueueDelete { .. } => self.write_queue(out),
            Self::Flow { active } => out.put_bits(&[active]),
            Self::ConfirmSelect => out.put_bits(&[false]),
            Self::TxSelect | Self::TxCommit | Self::TxRollback => {}
            _ => self.write_basic(out),
        }
    }

    fn write_exchange(&self, out: &mut Vec<u8>) {
        out.put_u16(0);
        match *self {
            Self::ExchangeDeclare {
                exchange,
                kind,
                passive,
                durable,
                auto_delete,
                internal,
                arguments,
            } => {
                out.put_short(exchange);
                out.put_short(kind);
                out.put_bits(&[passive, durable, auto_delete, internal, false]);
                arguments.write(out);
            }
            Self::ExchangeDelete { exchange, if_unused } => {
                out.put_short(exchange);
                out.put_bits(&[if_unused, false]);
            }
            Self::ExchangeBind { destination, source, routing_key, arguments }
            | Self::ExchangeUnbind { destination, source, routing_key, arguments } => {
                out.put_short(destination);
                out.put_short(source);
                out.put_short(routing_key);
                out.put_bits(&[false]);
                arguments.write(out);
            }
            _ => {}
        }
    }

    fn write_queue(&self, out: &mut Vec<u8>) {
        out.put_u16(0);
        match *self {
            Self::QueueDeclare { queue, passive, durable, exclusive, auto_delete, arguments } => {
                out.put_short(queue);
                out.put_bits(&[passive, durable, exclusive, auto_delete, false]);
                arguments.write(out);
            }
            Self::QueueBind { queue, exchange, routing_key, arguments } => {
                out.put_short(queue);
                out.put_short(exchange);
                out.put_short(routing_key);
                out.put_bits(&[false]);
                arguments.write(out);
            }
            Self::QueueUnbind { queue, exchange, routing_key, arguments } => {
                out.put_short(queue);
                out.put_short(exchange);
                out.put_short(routing_key);
                arguments.write(out);
            }
            Self::QueuePurge { queue } => {
                out.put_short(queue);
                out.put_bits(&[false]);
            }
            Self::QueueDelete { queue, if_unused, if_empty } => {
                out.put_short(queue);
                out.put_bits(&[if_unused, if_empty, false]);
            }
            _ => {}
        }
    }

    fn write_basic(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Qos { prefetch, global } => {
                out.put_u32(0);
                out.put_u16(prefetch);
                out.put_bits(&[global]);
            }
            Self::Consume { queue, consumer_tag, no_local, auto_ack, exclusive, arguments } => {
                out.put_u16(0);
                out.put_short(queue);
                out.put_short(consumer_tag);
                out.put_bits(&[no_local, auto_ack, exclusive, false]);
                arguments.write(out);
            }
            Self::Cancel { consumer_tag } => {
                out.put_short(consumer_tag);
                out.put_bits(&[false]);
            }
            Self::Get { queue, auto_ack } => {
                out.put_u16(0);
                out.put_short(queue);
                out.put_bits(&[auto_ack]);
            }
            Self::Ack { delivery_tag, multiple } => {
                out.put_u64(delivery_tag);
                out.put_bits(&[multiple]);
            }
            Self::Nack { delivery_tag, multiple, requeue } => {
                out.put_u64(delivery_tag);
                out.put_bits(&[multiple, requeue]);
            }
            Self::Reject { delivery_tag, requeue } => {
                out.put_u64(delivery_tag);
                out.put_bits(&[requeue]);
            }
            Self::Recover { requeue } => out.put_bits(&[requeue]),
            _ => {}
        }
    }
}

/// Methods that the connection sends by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handshake<'a> {
    StartOk { properties: &'a Table, mechanism: &'static str, response: &'a [u8] },
    TuneOk { channel_max: u16, frame_max: u32, heartbeat: u16 },
    Open { vhost: &'a str },
    Close { code: u16, text: &'a str },
    CloseOk,
    UpdateSecret { token: &'a str },
    ChannelOpen,
    ChannelFlowOk { active: bool },
    ChannelClose { code: u16, text: &'a str },
    ChannelCloseOk,
}

/// Appends such a method as a frame.
pub(crate) fn write_handshake(out: &mut Vec<u8>, channel: u16, method: &Handshake<'_>) {
    let id = match method {
        Handshake::StartOk { .. } => methods::CONNECTION_START_OK,
        Handshake::TuneOk { .. } => methods::CONNECTION_TUNE_OK,
        Handshake::Open { .. } => methods::CONNECTION_OPEN,
        Handshake::Close { .. } => methods::CONNECTION_CLOSE,
        Handshake::CloseOk => methods::CONNECTION_CLOSE_OK,
        Handshake::UpdateSecret { .. } => methods::CONNECTION_UPDATE_SECRET,
        Handshake::ChannelOpen => methods::CHANNEL_OPEN,
        Handshake::ChannelFlowOk { .. } => methods::CHANNEL_FLOW_OK,
        Handshake::ChannelClose { .. } => methods::CHANNEL_CLOSE,
        Handshake::ChannelCloseOk => methods::CHANNEL_CLOSE_OK,
    };
    write_method(out, channel, id, |out| method.write_fields(out));
}

impl Handshake<'_> {
    fn write_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::StartOk { properties, mechanism, response } => {
                properties.write(out);
                out.put_short(mechanism);
                out.put_long(response);
                out.put_short("en_US");
            }
            Self::TuneOk { channel_max, frame_max, heartbeat } => {
                out.put_u16(channel_max);
                out.put_u32(frame_max);
                out.put_u16(heartbeat);
            }
            Self::Open { vhost } => {
                out.put_short(vhost);
                out.put_short("");
                out.put_bits(&[false]);
            }
            Self::Close { code, text } | Self::ChannelClose { code, text } => {
                out.put_u16(code);
                out.put_short(text);
                out.put_u32(0);
            }
            Self::UpdateSecret { token } => {
                out.put_long(token.as_bytes());
                out.put_short("a new token");
            }
            Self::ChannelOpen => out.put_short(""),
            Self::ChannelFlowOk { active } => out.put_bits(&[active]),
            Self::CloseOk | Self::ChannelCloseOk => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &Request<'_>, expected: &[u8]) {
        let mut out = Vec::new();
        write_request(&mut out, 1, request);
        assert_eq!(out, expected, "{request:?}");
    }

    #[test]
    fn bytes_on_the_wire() {
        let acknowledge = Request::Ack { delivery_tag: 258, multiple: true };
        check(&acknowledge, &[1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0xce]);
        let none = Table::default();
        let declare = Request::QueueDeclare {
            queue: "q",
            passive: false,
            durable: true,
            exclusive: false,
            auto_delete: true,
            arguments: &none,
        };
        check(
            &declare,
            &[1, 0, 1, 0, 0, 0, 13, 0, 50, 0, 10, 0, 0, 1, b'q', 0b1010, 0, 0, 0, 0, 0xce],
        );
        check(&Request::Flow { active: true }, &[1, 0, 1, 0, 0, 0, 5, 0, 20, 0, 20, 1, 0xce]);
        check(&Request::ConfirmSelect, &[1, 0, 1, 0, 0, 0, 5, 0, 85, 0, 10, 0, 0xce]);
        check(
            &Request::Qos { prefetch: 500, global: false },
            &[1, 0, 1, 0, 0, 0, 11, 0, 60, 0, 10, 0, 0, 0, 0, 1, 0xf4, 0, 0xce],
        );
    }
}
