//! Events of AMQP 1.0 and of the stream protocol, however their bytes come.

use super::{
    activity::heard_as,
    capture::{Random, Talk},
};
use crate::{
    activity::{Action, Event, Place},
    report::Side,
};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn describe(event: &Event<'_>) -> String {
    let Event { channel, frames, .. } = event;
    match &event.action {
        Action::Start(client) => {
            format!("start {} {:?}", text(client.product), client.group.map(text))
        }
        Action::Open(vhost) => format!("open {}", text(vhost)),
        Action::Attach(attach) => {
            let place = match attach.place {
                Place::Address(address) => text(address),
                Place::Stream(stream) => text(stream),
                other => format!("{other:?}"),
            };
            let kind = if attach.is_reader { "reader" } else { "publisher" };
            let more = (attach.credit, attach.start, attach.filters, attach.priority);
            format!("{channel} {kind} {place} {} {more:?}", text(attach.name))
        }
        Action::Publish(message) => {
            let content = &message.content;
            let header = content.header;
            format!(
                "{channel} publish #{:?} {}{} of {} durable {} in {frames}, {:?}",
                message.number,
                text(message.exchange),
                text(message.routing_key),
                header.body_bytes,
                header.is_persistent,
                content.properties.and_then(|of| of.headers).map(|of| of.count),
            )
        }
        Action::Deliver(message) => format!(
            "{channel} deliver {} #{} of {}",
            text(message.consumer_tag.unwrap_or_default()),
            message.delivery_tag,
            message.content.header.body_bytes
        ),
        Action::SettleRange(range) => {
            format!("{channel} {:?} {} to {}", range.settlement, range.first, range.last)
        }
        other => format!("{channel} {other:?}"),
    }
}

/// Bytes by which the begin of a connection is recognized.
const RECOGNIZED: usize = 8;

/// Sends the bytes of both sides in turn, in pieces of these sizes. The first one is larger if it has to be: frames that a
/// search finds have no arguments.
fn talk(bytes: &[(Side, Vec<u8>)], mut piece: impl FnMut() -> usize) -> Talk {
    let mut talk = Talk::new();
    for (side, bytes) in bytes {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let least = if talk.packets.len() < 4 { RECOGNIZED } else { 1 };
            let (now, later) = rest.split_at(piece().clamp(least, rest.len()));
            talk.send(*side, now);
            rest = later;
        }
    }
    talk
}

#[track_caller]
fn check(bytes: &[(Side, Vec<u8>)], expected: &[&str]) {
    let heard = |talk: &Talk| heard_as(talk, describe);
    let whole = heard(&talk(bytes, || usize::MAX));
    assert_eq!(whole, expected);
    for size in [1, 2, 7, 100] {
        assert_eq!(heard(&talk(bytes, || size)), expected, "pieces of {size}");
    }
    let mut random = Random(7);
    assert_eq!(heard(&talk(bytes, || random.index(60))), expected);
}

fn short(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap()], text].concat()
}

fn string(text: &str) -> Vec<u8> {
    [&[0xa1][..], &short(text.as_bytes())].concat()
}

fn list(fields: &[&[u8]]) -> Vec<u8> {
    let bytes = fields.concat();
    let count = u8::try_from(fields.len()).unwrap();
    [&[0xc0, u8::try_from(bytes.len() + 1).unwrap(), count][..], &bytes].concat()
}

fn described(descriptor: u8, fields: &[&[u8]]) -> Vec<u8> {
    [&[0, 0x53, descriptor][..], &list(fields)].concat()
}

fn map(pairs: &[&[u8]]) -> Vec<u8> {
    let mut bytes = list(pairs);
    bytes[0] = 0xc1;
    bytes
}

fn frame(channel: u8, performative: &[u8], payload: &[u8]) -> Vec<u8> {
    let size = u32::try_from(8 + performative.len() + payload.len()).unwrap();
    [&size.to_be_bytes()[..], &[2, 0, 0, channel], performative, payload].concat()
}

const NULL: &[u8] = &[0x40];
const TRUE: &[u8] = &[0x41];
const FALSE: &[u8] = &[0x42];

fn number(of: u8) -> Vec<u8> {
    vec![0x52, of]
}

fn open(container: &str, product: &str) -> Vec<u8> {
    let properties = map(&[&string("product"), &string(product)]);
    let (name, host) = (string(container), string("vhost:v"));
    let fields = [&name[..], &host, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &properties];
    frame(0, &described(0x10, &fields), &[])
}

fn attach(channel: u8, (name, handle): (&str, u8), is_receiver: bool, place: &[u8]) -> Vec<u8> {
    let (role, other) = if is_receiver { (TRUE, NULL) } else { (FALSE, NULL) };
    let (source, target) = if is_receiver { (place, other) } else { (other, place) };
    let fields = [&string(name)[..], &number(handle), role, NULL, NULL, source, target];
    frame(channel, &described(0x12, &fields), &[])
}

fn transfer(channel: u8, handle: u8, id: Option<u8>, more: bool, payload: &[u8]) -> Vec<u8> {
    let id = id.map_or(NULL.to_vec(), number);
    let more = if more { TRUE } else { FALSE };
    let fields = [&number(handle)[..], &id, &[0xa0, 1, 9], &[0x43], FALSE, more];
    frame(channel, &described(0x14, &fields), payload)
}

fn disposition(channel: u8, (first, last): (u8, u8), state: &[u8]) -> Vec<u8> {
    let fields = [TRUE, &number(first)[..], &number(last), TRUE, state];
    frame(channel, &described(0x15, &fields), &[])
}

/// A header, properties with an address, and properties of the application, before a body.
fn message(body: &[u8]) -> Vec<u8> {
    let header = described(0x70, &[TRUE, &[0x50, 3]]);
    let properties = described(0x73, &[NULL, NULL, &string("/queues/to"), &string(" key")]);
    let application =
        [&[0, 0x53, 0x74][..], &map(&[&string("a"), &string("secret"), &string("b"), &number(1)])];
    let data =
        [&[0, 0x53, 0x75, 0xb0][..], &u32::try_from(body.len()).unwrap().to_be_bytes(), body];
    [&header[..], &properties, &application.concat(), &data.concat()].concat()
}

const ACCEPTED: &[u8] = &[0, 0x53, 0x24, 0x45];
const RELEASED: &[u8] = &[0, 0x53, 0x26, 0x45];

/// A session of the client's channel 1, which the broker calls 5.
fn amqp10() -> Vec<(Side, Vec<u8>)> {
    let target = described(0x29, &[&string("/queues/q")]);
    let filter = map(&[
        &string("rabbitmq:stream-offset-spec"),
        &[&[0][..], &string("rabbitmq:stream-offset-spec"), &string("first")].concat(),
        &string("sql-filter"),
        &[&[0, 0x80, 0, 0, 1, 0x37, 0, 0, 1, 0x20][..], &string("secret")].concat(),
    ]);
    let address = string("/queues/s");
    let source = [&address[..], NULL, NULL, NULL, NULL, NULL, NULL, &filter];
    let source = described(0x28, &source);
    let whole = message(&[7; 500]);
    let (part, rest) = whole.split_at(300);
    let flow = [NULL, &number(9)[..], &number(0), &number(9), &number(4), &number(0), &number(30)];
    let modified = described(0x27, &[TRUE, TRUE]);
    vec![
        (
            Side::Client,
            [&b"AMQP\0\x01\0\0"[..], &open("rabbitscope readers 3", "rabbitscope")].concat(),
        ),
        (Side::Broker, [&b"AMQP\0\x01\0\0"[..], &open("broker", "RabbitMQ")].concat()),
        (Side::Client, frame(1, &described(0x11, &[NULL, &[0x43], &number(9), &number(9)]), &[])),
        (
            Side::Broker,
            frame(5, &described(0x11, &[&[0x60, 0, 1], &[0x43], &number(9), &number(9)]), &[]),
        ),
        (Side::Client, attach(1, ("out", 3), false, &target)),
        (Side::Client, attach(1, ("in", 4), true, &source)),
        (Side::Broker, attach(5, ("out", 0), true, &target)),
        (Side::Broker, attach(5, ("in", 1), false, &source)),
        (Side::Client, frame(1, &described(0x13, &flow), &[])),
        // Two transfers of a message, then another one.
        (Side::Client, transfer(1, 3, Some(8), true, part)),
        (Side::Client, transfer(1, 3, None, false, rest)),
        (Side::Client, transfer(1, 3, Some(9), false, &[0, 0x53, 0x77, 0xa1, 2, 1, 2])),
        (Side::Broker, transfer(5, 1, Some(0), false, &message(b"secret"))),
        (Side::Broker, transfer(5, 1, Some(1), false, &message(b"secret"))),
        (Side::Broker, transfer(5, 1, Some(2), false, &message(b""))),
        (Side::Broker, disposition(5, (0, 8), RELEASED)),
        (Side::Broker, disposition(5, (9, 9), ACCEPTED)),
        (Side::Client, disposition(1, (0, 1), ACCEPTED)),
        (Side::Client, disposition(1, (1, 2), &modified)),
        (Side::Client, frame(1, &described(0x16, &[&number(3), TRUE]), &[])),
        (Side::Broker, frame(5, &[0, 0x53, 0x17, 0x45], &[])),
    ]
}

#[test]
fn links_of_amqp10_have_their_messages_and_outcomes() {
    let expected = [
        "0 opened true",
        "start rabbitscope Some(\"readers\")",
        "open v",
        "1 publisher /queues/q  (None, None, 0, None)",
        "2 reader /queues/s  (None, Some(First), 1, None)",
        "2 Credit(30)",
        "1 publish #Some(1) /queues/to key of 500 durable true in 2, Some(2)",
        "1 publish #Some(2)  of 2 durable false in 1, None",
        "2 deliver 1 #1 of 6",
        "2 deliver 1 #2 of 6",
        "2 deliver 1 #3 of 0",
        "1 Reject { requeue: true } 1 to 1",
        "1 Ack 2 to 2",
        "2 Ack 1 to 2",
        "2 Nack { requeue: false } 3 to 3",
        "1 Detach",
        "2 Detach",
        "ended false",
    ];
    check(&amqp10(), &expected);
}

#[test]
fn links_that_were_attached_before_are_numbered_and_say_their_place() {
    let whole = amqp10();
    let heard = heard_as(&talk(&whole[9..], || usize::MAX), describe);
    let joined = |event: &&String| event.contains("Joined");
    let found: Vec<&String> = heard.iter().filter(joined).collect();
    let expected = [
        "1 Joined(Joined { session: 1, handle: 3 })",
        // Without the `begin`, the broker's channel is taken for the client's.
        "2 Joined(Joined { session: 5, handle: 1 })",
    ];
    assert_eq!(found, expected.iter().collect::<Vec<_>>(), "{heard:#?}");
    // The first transfers may be parts of a message: their sections are not read.
    assert!(!heard.iter().any(|event| event.contains("durable true")), "{heard:#?}");
}

fn text16(text: &[u8]) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap().to_be_bytes(), text].concat()
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn command(key: u16, version: u8, content: &[&[u8]]) -> Vec<u8> {
    long(&[&key.to_be_bytes()[..], &[0, version], &content.concat()].concat())
}

fn entry(id: u64, message: &[u8]) -> Vec<u8> {
    [&id.to_be_bytes()[..], &long(message)].concat()
}

fn data(body: &[u8]) -> Vec<u8> {
    [&[0, 0x53, 0x75, 0xa0][..], &short(body)].concat()
}

fn stream() -> Vec<(Side, Vec<u8>)> {
    let correlation = &[0, 0, 0, 1][..];
    let properties = [
        &[0, 0, 0, 2][..],
        &[text16(b"product"), text16(b"rabbitscope")].concat(),
        &[text16(b"connection_name"), text16(b"rabbitscope writers 0")].concat(),
    ];
    let subscription = [
        &[0, 0, 0, 3][..],
        &[text16(b"name"), text16(b"app")].concat(),
        &[text16(b"single-active-consumer"), text16(b"true")].concat(),
        &[text16(b"filter.0"), text16(b"secret")].concat(),
    ];
    // Three messages in a batch of gzip, of 60 bytes before compression.
    let batch = [&9_u64.to_be_bytes()[..], &[0x90, 0, 3], &60_u32.to_be_bytes(), &long(&[5; 20])];
    let plain = [entry(7, &data(b"secret")), entry(8, b"raw secret"), batch.concat()].concat();
    let filtered = [&10_u64.to_be_bytes()[..], &text16(b"eu"), &long(&data(&[1; 9]))].concat();
    let chunk_head = |entries: u8, messages: u8, bytes: u32| {
        let mut head = vec![0; 48];
        (head[0], head[3], head[7]) = (0x50, entries, messages);
        head[36..40].copy_from_slice(&bytes.to_be_bytes());
        [head, vec![9; bytes as usize]].concat()
    };
    vec![
        (Side::Client, command(17, 1, &[correlation, &properties.concat()])),
        (Side::Client, command(21, 1, &[correlation, &text16(b"v")])),
        (Side::Client, command(1, 1, &[correlation, &[4], &text16(b"ref"), &text16(b"s")])),
        (
            Side::Client,
            command(
                7,
                1,
                &[
                    correlation,
                    &[2],
                    &text16(b"s"),
                    &[0, 4],
                    &[0; 8],
                    &[0, 5],
                    &subscription.concat(),
                ],
            ),
        ),
        // The broker has no such stream.
        (Side::Client, command(1, 1, &[&[0, 0, 0, 9], &[5], &text16(b""), &text16(b"none")])),
        (Side::Broker, command(0x8001, 1, &[correlation, &[0, 1]])),
        (Side::Broker, command(0x8001, 1, &[&[0, 0, 0, 9], &[0, 2]])),
        (Side::Client, command(2, 1, &[&[4], &[0, 0, 0, 3], &plain])),
        (Side::Client, command(2, 2, &[&[4], &[0, 0, 0, 1], &filtered])),
        (
            Side::Broker,
            command(3, 1, &[&[4], &[0, 0, 0, 2], &7_u64.to_be_bytes(), &9_u64.to_be_bytes()]),
        ),
        (Side::Broker, command(4, 1, &[&[4], &[0, 0, 0, 1], &8_u64.to_be_bytes(), &[0, 18]])),
        (Side::Broker, command(3, 1, &[&[4], &[0, 0, 0, 1], &10_u64.to_be_bytes()])),
        (Side::Broker, command(8, 1, &[&[2], &chunk_head(2, 6, 70)])),
        (Side::Client, command(9, 1, &[&[2], &[0, 1]])),
        (Side::Client, command(10, 1, &[&text16(b"app"), &text16(b"s"), &[0; 8]])),
        (Side::Client, command(12, 1, &[correlation, &[2]])),
        (Side::Client, command(6, 1, &[correlation, &[4]])),
    ]
}

#[test]
fn publishers_and_readers_of_streams_have_their_messages_and_confirms() {
    let expected = [
        "0 opened true",
        "start rabbitscope Some(\"writers\")",
        "open v",
        "4 publisher s  (None, None, 0, None)",
        "258 reader s app (Some(5), Some(Other), 1, None)",
        "5 publisher none  (None, None, 0, None)",
        "5 Detach",
        "4 publish #Some(1)  of 6 durable false in 1, None",
        "4 publish #Some(2)  of 10 durable false in 1, None",
        "4 publish #Some(3)  of 11 durable false in 1, None",
        "4 publish #Some(4)  of 11 durable false in 1, None",
        "4 publish #Some(5)  of 11 durable false in 1, None",
        "4 publish #Some(6)  of 9 durable false in 1, None",
        "4 Ack 1 to 1",
        "4 Ack 3 to 5",
        "4 Nack { requeue: false } 2 to 2",
        "4 Ack 6 to 6",
        "258 Chunk(Chunk { messages: 6, bytes: 70 })",
        "258 Credit(1)",
        "0 StoreOffset(StoredOffset { name: [97, 112, 112], stream: [115] })",
        "258 Detach",
        "4 Detach",
        "ended false",
    ];
    check(&stream(), &expected);
}

#[test]
fn hostile_frames_make_bounded_events() {
    // Each entry says that it has 65,535 messages.
    let entries: Vec<u8> = (0..200_u64)
        .flat_map(|id| [&id.to_be_bytes()[..], &[0x80, 0xff, 0xff], &[0; 4], &[0; 4]].concat())
        .collect();
    let bytes = [
        (Side::Client, command(17, 1, &[&[0, 0, 0, 1], &[0, 0, 0, 0]])),
        (Side::Client, command(2, 1, &[&[4], &200_u32.to_be_bytes(), &entries])),
    ];
    let heard = heard_as(&talk(&bytes, || usize::MAX), |event| match event.action {
        Action::Publish(_) => "publish".to_owned(),
        _ => String::new(),
    });
    let publishes = heard.iter().filter(|event| *event == "publish").count();
    assert!((200_000..=262_144).contains(&publishes), "{publishes}");
}
