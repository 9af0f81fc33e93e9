//! Classes and methods by their numbers.

/// Number of the class `connection`.
pub(super) const CONNECTION: u16 = 10;
/// Number of the class `basic`.
pub(super) const BASIC: u16 = 60;

/// RabbitMQ's pseudo-queue for replies. Names of individual reply queues begin with it.
pub(super) const DIRECT_REPLY_TO: &[u8] = b"amq.rabbitmq.reply-to";

/// Returns `class.method` for all methods of the specification and of RabbitMQ.
pub(super) const fn name(class: u16, method: u16) -> Option<&'static str> {
    match class {
        CONNECTION => connection(method),
        20 => channel(method),
        30 => access(method),
        40 => exchange(method),
        50 => queue(method),
        BASIC => basic(method),
        85 => confirm(method),
        90 => tx(method),
        _ => None,
    }
}

const fn connection(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "connection.start",
        11 => "connection.start-ok",
        20 => "connection.secure",
        21 => "connection.secure-ok",
        30 => "connection.tune",
        31 => "connection.tune-ok",
        40 => "connection.open",
        41 => "connection.open-ok",
        50 => "connection.close",
        51 => "connection.close-ok",
        60 => "connection.blocked",
        61 => "connection.unblocked",
        70 => "connection.update-secret",
        71 => "connection.update-secret-ok",
        _ => return None,
    })
}

const fn channel(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "channel.open",
        11 => "channel.open-ok",
        20 => "channel.flow",
        21 => "channel.flow-ok",
        40 => "channel.close",
        41 => "channel.close-ok",
        _ => return None,
    })
}

/// Methods of AMQP 0-8, which old clients still send.
const fn access(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "access.request",
        11 => "access.request-ok",
        _ => return None,
    })
}

const fn exchange(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "exchange.declare",
        11 => "exchange.declare-ok",
        20 => "exchange.delete",
        21 => "exchange.delete-ok",
        30 => "exchange.bind",
        31 => "exchange.bind-ok",
        40 => "exchange.unbind",
        51 => "exchange.unbind-ok",
        _ => return None,
    })
}

const fn queue(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "queue.declare",
        11 => "queue.declare-ok",
        20 => "queue.bind",
        21 => "queue.bind-ok",
        30 => "queue.purge",
        31 => "queue.purge-ok",
        40 => "queue.delete",
        41 => "queue.delete-ok",
        50 => "queue.unbind",
        51 => "queue.unbind-ok",
        _ => return None,
    })
}

const fn basic(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "basic.qos",
        11 => "basic.qos-ok",
        20 => "basic.consume",
        21 => "basic.consume-ok",
        30 => "basic.cancel",
        31 => "basic.cancel-ok",
        40 => "basic.publish",
        50 => "basic.return",
        60 => "basic.deliver",
        70 => "basic.get",
        71 => "basic.get-ok",
        72 => "basic.get-empty",
        80 => "basic.ack",
        90 => "basic.reject",
        100 => "basic.recover-async",
        110 => "basic.recover",
        111 => "basic.recover-ok",
        120 => "basic.nack",
        _ => return None,
    })
}

const fn confirm(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "confirm.select",
        11 => "confirm.select-ok",
        _ => return None,
    })
}

const fn tx(method: u16) -> Option<&'static str> {
    Some(match method {
        10 => "tx.select",
        11 => "tx.select-ok",
        20 => "tx.commit",
        21 => "tx.commit-ok",
        30 => "tx.rollback",
        31 => "tx.rollback-ok",
        _ => return None,
    })
}

/// Returns the position of a method's bit "no answer": the bytes before it, the short strings before it, and its
/// number.
pub(super) const fn no_wait_bit(class: u16, method: u16) -> Option<(usize, usize, u8)> {
    Some(match (class, method) {
        (40, 10) => (2, 2, 4),
        (40, 20) => (2, 1, 1),
        (40, 30 | 40) | (50, 20) => (2, 3, 0),
        (50, 10) => (2, 1, 4),
        (50, 30) => (2, 1, 0),
        (50, 40) => (2, 1, 2),
        (BASIC, 20) => (2, 2, 3),
        (BASIC, 30) => (0, 1, 0),
        (85, 10) => (0, 0, 0),
        _ => return None,
    })
}
