//! Actions and properties of exact bytes.

use super::{
    action::{
        Action, Binding, Client, Consume, ExchangeDeclare, Get, Qos, QueueDeclare, Settled,
        Settlement, Tune,
    },
    method::action,
    properties::{Headers, Properties, properties},
    table::{Arguments, Value},
};

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: Action<'_>) {
    assert_eq!(action(name, bytes), Some(expected), "{name}");
}

#[test]
fn settlements_are_kept_apart() {
    let settle = |delivery_tag, multiple, settlement| {
        Action::Settle(Settled { delivery_tag, multiple, settlement })
    };
    check("basic.ack", b"\0\0\0\0\0\0\0\x05\x01", settle(5, true, Settlement::Ack));
    check("basic.ack", b"\0\0\0\0\0\0\0\x05\0", settle(5, false, Settlement::Ack));
    let nack = |requeue| Settlement::Nack { requeue };
    check("basic.nack", b"\0\0\0\0\0\0\0\0\x03", settle(0, true, nack(true)));
    check("basic.nack", b"\0\0\0\0\0\0\0\x01\x01", settle(1, true, nack(false)));
    check("basic.nack", b"\0\0\0\0\0\0\0\x01\x02", settle(1, false, nack(true)));
    let reject = |requeue| Settlement::Reject { requeue };
    check("basic.reject", b"\0\0\0\0\0\0\0\x09\x01", settle(9, false, reject(true)));
    check("basic.reject", b"\0\0\0\0\0\0\0\x09\0", settle(9, false, reject(false)));
    check("basic.recover", b"\x01", Action::Recover { requeue: true });
}

#[test]
fn consumers_have_their_settings() {
    let qos = Qos { prefetch_count: 20, prefetch_size: 0, global: true };
    check("basic.qos", b"\0\0\0\0\0\x14\x01", Action::Qos(qos));
    let table = b"\0\0\0\x10\x0ax-priorityI\xff\xff\xff\xfe";
    let bytes = [&b"\0\0\x03q.1\x02ct\x06"[..], table].concat();
    let consume = Consume {
        queue: b"q.1",
        consumer_tag: b"ct",
        no_ack: true,
        exclusive: true,
        no_wait: false,
        arguments: Arguments::new(&table[4..]),
    };
    check("basic.consume", &bytes, Action::Consume(consume));
    let known: Vec<_> = consume.arguments.known().collect();
    assert_eq!(known, [(&b"x-priority"[..], Value::Integer(-2))]);
    check("basic.consume-ok", b"\x02ct", Action::Consuming(b"ct"));
    check("basic.cancel", b"\x02ct\0", Action::Cancel(b"ct"));
    check("basic.get", b"\0\0\x03q.1\x01", Action::Get(Get { queue: b"q.1", no_ack: true }));
    check("basic.get-empty", b"\0", Action::GetEmpty);
}

#[test]
fn declarations_have_names_and_flags() {
    let queue = QueueDeclare {
        queue: b"q",
        passive: false,
        durable: true,
        exclusive: false,
        auto_delete: true,
        arguments: Arguments::new(b""),
    };
    check("queue.declare", b"\0\0\x01q\x0a\0\0\0\0", Action::QueueDeclare(queue));
    check("queue.declare-ok", b"\x01q\0\0\0\0\0\0\0\0", Action::QueueDeclared(b"q"));
    check("queue.delete", b"\0\0\x01q\0", Action::QueueDelete(b"q"));
    let exchange = ExchangeDeclare {
        exchange: b"e",
        kind: b"topic",
        passive: true,
        durable: false,
        auto_delete: false,
        internal: true,
        arguments: Arguments::new(b""),
    };
    check("exchange.declare", b"\0\0\x01e\x05topic\x09\0\0\0\0", Action::ExchangeDeclare(exchange));
    let binding = Binding {
        destination: b"q",
        source: b"e",
        routing_key: b"a.#",
        arguments: Arguments::new(b""),
    };
    check("queue.bind", b"\0\0\x01q\x01e\x03a.#\0\0\0\0\0", Action::QueueBind(binding));
    check("exchange.bind", b"\0\0\x01q\x01e\x03a.#\0\0\0\0\0", Action::ExchangeBind(binding));
}

#[test]
fn connections_have_their_program_and_limits() {
    let properties =
        b"\x07productS\0\0\0\x04pika\x07versionS\0\0\0\x051.3.2\x0fconnection_nameS\0\0\0\x01x";
    let client = Client { product: b"pika", version: b"1.3.2", platform: b"", group: None };
    check("connection.start-ok", properties, Action::Start(client));
    // The load of a scenario is known by its group.
    let own = b"\x07productS\0\0\0\x0brabbitscope\x0fconnection_nameS\0\0\0\x11rabbitscope a b 0";
    let group = Some(&b"a b"[..]);
    let client = Client { product: b"rabbitscope", version: b"", platform: b"", group };
    check("connection.start-ok", own, Action::Start(client));
    let tune = Tune { channel_max: 2047, frame_max: 131_072, heartbeat: 60 };
    check("connection.tune-ok", b"\x07\xff\0\x02\0\0\0\x3c", Action::Tune(tune));
    check("connection.open", b"\x01/\0\0", Action::Open(b"/"));
}

#[test]
fn truncated_arguments_are_no_action() {
    assert_eq!(action("basic.ack", b"\0\0\0\0\0\0\0\x05"), None);
    assert_eq!(action("basic.consume", b"\0\0\x03q.1\x02c"), None);
    assert_eq!(action("basic.publish", b"\0\0\0\0\0"), None);
    assert_eq!(action("unknown method", b""), None);
}

#[test]
fn values_of_applications_are_not_read() {
    let table = b"\x0dx-message-ttll\0\0\0\0\0\0\x27\x10\x06secretS\0\0\0\x02no\x0cx-queue-typeS\0\0\0\x06quorum";
    let arguments = Arguments::new(table);
    let known: Vec<_> = arguments.known().collect();
    let expected = [
        (&b"x-message-ttl"[..], Value::Integer(10_000)),
        (b"x-queue-type", Value::Text(b"quorum")),
    ];
    assert_eq!((&known[..], arguments.unknown()), (&expected[..], 1));
}

#[test]
fn properties_are_counted_and_measured() {
    // Content type, headers, delivery mode, priority, correlation id, expiration, message id, timestamp.
    let mut payload = vec![0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0b1011_1101, 0b1100_0000];
    payload.extend_from_slice(b"\x04text\0\0\0\x0d\x01kt\x01\x02llS\0\0\0\x01v");
    payload.extend_from_slice(b"\x02\x09\x02id\x0560000\x03m-1\0\0\0\0\0\0\0\0");
    let expected = Properties {
        flags: 0b1011_1101_1100_0000,
        headers: Some(Headers { count: 2, bytes: 13 }),
        delivery_mode: Some(2),
        priority: Some(9),
        expiration: Some(60_000),
        text_bytes: 4 + 2 + 5 + 3,
    };
    assert_eq!(properties(&payload), Some(expected));
    assert_eq!(properties(&payload[..payload.len() - 1]), None);
    let none = properties(&[0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0]);
    assert_eq!(none, Some(Properties::default()));
}
