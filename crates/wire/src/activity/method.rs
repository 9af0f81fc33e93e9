//! Arguments of a method, as an action.

use rabbitscope_amqp::protocol::methods;

use super::{
    action::{
        Action, Binding, Client, Consume, ExchangeDeclare, Get, Qos, QueueDeclare, Settled,
        Settlement, Tune,
    },
    table::{self, Arguments},
};
use crate::protocols::ArgumentBytes;

/// Reads the action of a method by its name. Returns none for other methods, for those with a content, and for truncated
/// arguments.
pub(super) fn action<'a>(name: &str, arguments: &'a [u8]) -> Option<Action<'a>> {
    let method = methods::Method::ALL.iter().find(|method| method.name == name)?;
    let mut rest = ArgumentBytes::new(arguments);
    Some(match method.id {
        methods::CONNECTION_START_OK => Action::Start(client(arguments)),
        methods::CONNECTION_TUNE_OK => Action::Tune(tune(&mut rest)?),
        methods::CONNECTION_OPEN => Action::Open(rest.short()?),
        methods::CONNECTION_CLOSE => Action::Close,
        methods::CHANNEL_OPEN => Action::ChannelOpen,
        methods::CHANNEL_CLOSE => Action::ChannelClose,
        methods::EXCHANGE_DECLARE => Action::ExchangeDeclare(exchange_declare(&mut rest)?),
        methods::QUEUE_DECLARE => Action::QueueDeclare(queue_declare(&mut rest)?),
        methods::QUEUE_DECLARE_OK => Action::QueueDeclared(rest.short()?),
        methods::QUEUE_DELETE => Action::QueueDelete(after_ticket(&mut rest)?),
        methods::QUEUE_BIND => Action::QueueBind(binding(&mut rest)?),
        methods::EXCHANGE_BIND => Action::ExchangeBind(binding(&mut rest)?),
        methods::BASIC_QOS => Action::Qos(qos(&mut rest)?),
        methods::BASIC_CONSUME => Action::Consume(consume(&mut rest)?),
        methods::BASIC_CONSUME_OK => Action::Consuming(rest.short()?),
        methods::BASIC_CANCEL => Action::Cancel(rest.short()?),
        methods::BASIC_GET => {
            Action::Get(Get { queue: after_ticket(&mut rest)?, no_ack: rest.u8()? & 1 != 0 })
        }
        methods::BASIC_GET_EMPTY => Action::GetEmpty,
        methods::BASIC_ACK | methods::BASIC_NACK | methods::BASIC_REJECT => {
            Action::Settle(settled(method.id, &mut rest)?)
        }
        methods::BASIC_RECOVER | methods::BASIC_RECOVER_ASYNC => {
            Action::Recover { requeue: rest.u8()? & 1 != 0 }
        }
        methods::CONFIRM_SELECT => Action::ConfirmSelect,
        methods::TX_SELECT => Action::TxSelect,
        methods::TX_COMMIT => Action::TxCommit,
        methods::TX_COMMIT_OK => Action::TxCommitted,
        methods::TX_ROLLBACK => Action::TxRollback,
        _ => return None,
    })
}

/// Reads a short text behind the unused ticket of AMQP 0-8.
fn after_ticket<'a>(rest: &mut ArgumentBytes<'a>) -> Option<&'a [u8]> {
    rest.u16()?;
    rest.short()
}

/// Reads a table; one that is cut off yields its beginning.
fn arguments<'a>(rest: &mut ArgumentBytes<'a>) -> Option<Arguments<'a>> {
    let length = usize::try_from(rest.u32()?).ok()?;
    let bytes = rest.rest();
    Some(Arguments::new(&bytes[..length.min(bytes.len())]))
}

/// Reads three properties of a client. All others, such as the name of the connection, may be private. Connections of
/// this program's loads have the name `rabbitscope GROUP NUMBER`.
fn client(properties: &[u8]) -> Client<'_> {
    let text = |key: &[u8]| table::text(properties, key).unwrap_or_default();
    let product = text(b"product");
    let group = group(product, text(b"connection_name"));
    Client { product, version: text(b"version"), platform: text(b"platform"), group }
}

/// Returns the group in the name of a connection, if a load of this program made it.
pub(super) fn group<'a>(product: &[u8], name: &'a [u8]) -> Option<&'a [u8]> {
    let name = name.strip_prefix(b"rabbitscope ").filter(|_| product == b"rabbitscope")?;
    let end = name.iter().rposition(|byte| *byte == b' ')?;
    Some(&name[..end])
}

fn tune(rest: &mut ArgumentBytes<'_>) -> Option<Tune> {
    Some(Tune { channel_max: rest.u16()?, frame_max: rest.u32()?, heartbeat: rest.u16()? })
}

fn exchange_declare<'a>(rest: &mut ArgumentBytes<'a>) -> Option<ExchangeDeclare<'a>> {
    let (exchange, kind, bits) = (after_ticket(rest)?, rest.short()?, rest.u8()?);
    Some(ExchangeDeclare {
        exchange,
        kind,
        passive: bits & 1 != 0,
        durable: bits & 0b10 != 0,
        auto_delete: bits & 0b100 != 0,
        internal: bits & 0b1000 != 0,
        arguments: arguments(rest)?,
    })
}

fn queue_declare<'a>(rest: &mut ArgumentBytes<'a>) -> Option<QueueDeclare<'a>> {
    let (queue, bits) = (after_ticket(rest)?, rest.u8()?);
    Some(QueueDeclare {
        queue,
        passive: bits & 1 != 0,
        durable: bits & 0b10 != 0,
        exclusive: bits & 0b100 != 0,
        auto_delete: bits & 0b1000 != 0,
        arguments: arguments(rest)?,
    })
}

fn binding<'a>(rest: &mut ArgumentBytes<'a>) -> Option<Binding<'a>> {
    let (destination, source, routing_key) = (after_ticket(rest)?, rest.short()?, rest.short()?);
    let _no_wait = rest.u8()?;
    Some(Binding { destination, source, routing_key, arguments: arguments(rest)? })
}

fn qos(rest: &mut ArgumentBytes<'_>) -> Option<Qos> {
    let (prefetch_size, prefetch_count) = (rest.u32()?, rest.u16()?);
    Some(Qos { prefetch_count, prefetch_size, global: rest.u8()? & 1 != 0 })
}

fn consume<'a>(rest: &mut ArgumentBytes<'a>) -> Option<Consume<'a>> {
    let (queue, consumer_tag, bits) = (after_ticket(rest)?, rest.short()?, rest.u8()?);
    Some(Consume {
        queue,
        consumer_tag,
        no_ack: bits & 0b10 != 0,
        exclusive: bits & 0b100 != 0,
        no_wait: bits & 0b1000 != 0,
        arguments: arguments(rest)?,
    })
}

fn settled(method: methods::MethodId, rest: &mut ArgumentBytes<'_>) -> Option<Settled> {
    let (delivery_tag, bits) = (rest.u64()?, rest.u8()?);
    let (multiple, settlement) = match method {
        methods::BASIC_ACK => (bits & 1 != 0, Settlement::Ack),
        methods::BASIC_NACK => (bits & 1 != 0, Settlement::Nack { requeue: bits & 0b10 != 0 }),
        _ => (false, Settlement::Reject { requeue: bits & 1 != 0 }),
    };
    Some(Settled { delivery_tag, multiple, settlement })
}
