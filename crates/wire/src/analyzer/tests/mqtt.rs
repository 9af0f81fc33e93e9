//! Events of a connection of MQTT: from its beginning and from its middle, with packets in pieces.

use super::{
    activity::heard,
    capture::{Random, Talk},
};
use crate::report::Side;

/// Values that no event may show.
const SECRETS: [&str; 8] = [
    "the-user",
    "the-password",
    "the-will",
    "the-topic-of-it",
    "body",
    "s3cret",
    "key9",
    "reply-9",
];

/// Bytes of a first segment that show a CONNECT: up to its name. A search finds it in shorter ones, without a client id.
const fn recognized(level: u8) -> usize {
    if level == 5 { 9 } else { 8 }
}

fn packet(first: u8, content: &[u8]) -> Vec<u8> {
    let mut length = content.len();
    let mut bytes = vec![first];
    loop {
        let more = if length > 0x7f { 0x80 } else { 0 };
        bytes.push(u8::try_from(length & 0x7f).unwrap() | more);
        length >>= 7;
        if length == 0 {
            break;
        }
    }
    bytes.extend_from_slice(content);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
}

/// Properties behind their length: a user property, and others.
fn properties(others: &[u8]) -> Vec<u8> {
    let user = [&b"\x26"[..], &text("key9"), &text("s3cret")].concat();
    let length = u8::try_from(user.len() + others.len()).unwrap();
    [&[length][..], others, &user].concat()
}

/// A CONNECT with a will, a user and a password.
fn connect(level: u8) -> Vec<u8> {
    let is_5 = level == 5;
    let start = [&text("MQTT")[..], &[level, 0b1100_0110, 0, 60]].concat();
    // Authentication Method and Data, Receive Maximum, Session Expiry Interval.
    let own =
        [&b"\x15"[..], &text("s3cret"), b"\x16", &text("s3cret"), b"\x21\0\x14\x11\0\0\0\x09"];
    let own = if is_5 { properties(&own.concat()) } else { Vec::new() };
    let of_will = if is_5 { properties(b"") } else { Vec::new() };
    let private = ["the-topic-of-it", "the-will", "the-user", "the-password"].map(text).concat();
    packet(0x10, &[start, own, text("device-7"), of_will, private].concat())
}

fn publish(level: Option<u8>, flags: u8, (topic, identifier): (&str, u16), body: &str) -> Vec<u8> {
    let of_5 = [&b"\x02\0\0\0\x3c\x08"[..], &text("reply-9")].concat();
    let properties = if level == Some(5) { properties(&of_5) } else { Vec::new() };
    let identifier =
        if flags & 0b110 == 0 { Vec::new() } else { identifier.to_be_bytes().to_vec() };
    packet(0x30 | flags, &[&text(topic)[..], &identifier, &properties, body.as_bytes()].concat())
}

/// Returns the packets of a connection, from its beginning on or without it.
fn packets(level: u8, from_the_start: bool) -> Vec<(Side, Vec<u8>)> {
    let is_5 = level == 5;
    let of_5 = if is_5 { properties(b"") } else { Vec::new() };
    let ack = |identifier: u8| {
        let reason = if is_5 { &[0, 0][..] } else { &[] };
        packet(0x40, &[&[0, identifier][..], reason].concat())
    };
    let (client, broker, known) = (Side::Client, Side::Broker, Some(level));
    let mut packets = Vec::new();
    if from_the_start {
        let connack = if is_5 { packet(0x20, b"\0\0\0") } else { packet(0x20, b"\0\0") };
        let filters = [text("a/+/#"), vec![1], text("b"), vec![0]].concat();
        let subscribe = packet(0x82, &[&[0, 1][..], &of_5, &filters].concat());
        let granted = [&[0, 1][..], &of_5, &[1, 0]].concat();
        packets.extend([
            (client, connect(level)),
            (broker, connack),
            (client, subscribe),
            (broker, packet(0x90, &granted)),
        ]);
    }
    for identifier in 2..8 {
        let place = ("a/b", u16::from(identifier));
        packets.push((client, publish(known, 0b0010, place, "body one")));
        packets.push((broker, ack(identifier)));
        packets
            .push((broker, publish(known, 0b0010, ("a/b/c", 40 + u16::from(identifier)), "body")));
        packets.push((client, ack(40 + identifier)));
    }
    packets.push((client, publish(known, 0b0001, ("a/b", 0), "body")));
    packets.push((broker, publish(known, 0b1010, ("b", 90), "")));
    // An answer to a message that was not seen.
    packets.push((broker, ack(99)));
    packets.push((client, packet(0xc0, b"")));
    packets.push((client, packet(0xe0, b"")));
    packets
}

fn heard_of(packets: &[(Side, Vec<u8>)], mut piece: impl FnMut() -> usize) -> Vec<String> {
    let mut talk = Talk::new();
    for (side, bytes) in packets {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
            talk.send(*side, now);
            rest = later;
        }
    }
    heard(&talk)
}

fn expected(level: u8) -> Vec<String> {
    let limit = if level == 5 { "Some(20)" } else { "None" };
    let is_persistent = level == 5;
    let mut expected = vec![
        "0 opened true".to_owned(),
        format!(
            "0 Connect(Connect {{ level: {level}, client_id: {:?}, is_persistent: {is_persistent}, \
             has_will: true, receive_maximum: {limit} }})",
            b"device-7"
        ),
        format!("0 Subscribe(Filters({:?}))", b"\0\x05a/+/#\x01\0\x01b\0"),
    ];
    for number in 1..7 {
        expected.push("0 publish amq.topic a/b of 8 in 1".to_owned());
        expected.push(format!("0 settle #{number}"));
        expected.push(format!("0 deliver Some(\"\") #{number} amq.topic a/b/c of 4 in 1"));
        expected.push(format!("0 settle #{number}"));
    }
    let last = [
        "0 publish amq.topic a/b of 4 in 1",
        "0 deliver Some(\"\") #7 amq.topic b of 0 in 1",
        "0 Ping",
        "0 Close",
        "ended false",
    ];
    expected.extend(last.map(str::to_owned));
    expected
}

#[test]
fn packets_are_events_however_their_bytes_come() {
    for level in [4, 5] {
        let (packets, expected) = (packets(level, true), expected(level));
        assert_eq!(heard_of(&packets, || usize::MAX), expected, "{level}");
        for bytes in 1..40 {
            let mut expected = expected.clone();
            if bytes < recognized(level) {
                expected.remove(1);
            }
            assert_eq!(heard_of(&packets, || bytes), expected, "{level} {bytes}");
        }
        let mut random = Random(5);
        let piece = || recognized(level) + random.index(90);
        assert_eq!(heard_of(&packets, piece), expected, "{level}");
    }
}

#[test]
fn no_event_shows_a_secret() {
    for level in [4, 5] {
        for from_the_start in [true, false] {
            let packets = packets(level, from_the_start);
            let sent = packets.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
            let heard = heard_of(&packets, || 11).join("\n");
            for secret in SECRETS {
                let bytes = format!("{:?}", secret.as_bytes());
                let bytes = bytes.trim_matches(['[', ']']);
                assert!(!heard.contains(secret) && !heard.contains(bytes), "{secret}\n{heard}");
            }
            assert!(sent.windows(6).any(|bytes| bytes == b"s3cret") || level == 4);
        }
    }
}

#[test]
fn a_connection_is_joined_in_its_middle() {
    for level in [4, 5] {
        let heard = heard_of(&packets(level, false), || usize::MAX);
        let publishes = heard.iter().filter(|event| event.contains("publish")).count();
        let deliveries: Vec<_> = heard.iter().filter(|event| event.contains("deliver")).collect();
        // The first three packets of each side, which show the protocol, have no topic.
        assert!(publishes >= 3 && deliveries.len() >= 3, "{heard:#?}");
        // Each answer belongs to a message that was seen before.
        let settled = heard.iter().filter(|event| event.contains("settle")).count();
        assert!(settled <= publishes + deliveries.len(), "{heard:#?}");
        // A PUBACK with a reason shows version 5, in which bodies have properties before them.
        let last = heard.iter().rfind(|event| event.contains("publish")).unwrap();
        assert_eq!(last, "0 publish amq.topic a/b of 4 in 1", "{level} {heard:#?}");
    }
}

#[test]
fn aliases_stand_for_topics() {
    let alias = |topic: &str, alias: u8| {
        packet(0x30, &[&text(topic)[..], &[3, 35, 0, alias], b"body"].concat())
    };
    let client = Side::Client;
    let packets = [
        (client, connect(5)),
        (Side::Broker, packet(0x20, b"\0\0\0")),
        (client, alias("a/b", 1)),
        (client, alias("c", 2)),
        (client, alias("", 1)),
        (client, alias("", 9)),
    ];
    let heard = heard_of(&packets, || usize::MAX);
    let topics: Vec<_> = heard.iter().filter(|event| event.contains("publish")).collect();
    let expected = ["a/b", "c", "a/b", ""].map(|of| format!("0 publish amq.topic {of} of 4 in 1"));
    assert_eq!(topics, expected.iter().collect::<Vec<_>>());
}
