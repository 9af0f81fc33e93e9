//! Packets of the broker, whole and in pieces.

use rabbitscope_mqtt::{Connection, Event, QualityOfService, Reason, Template, Topic, Version};

use crate::broker::{feed, opened, written};

/// Encodes a message for a subscription of MQTT 3.1.1 with these flags and this body.
fn message(flags: u8, packet: &[u8], body: &[u8]) -> Vec<u8> {
    let content = [b"\0\x03a/b", packet, body].concat();
    let mut out = vec![0x30 | flags];
    let mut length = content.len();
    while length > 0x7f {
        out.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
    [out, content].concat()
}

/// A connection that has subscribed, and then sent eight messages.
fn publishing(version: Version) -> Connection {
    let mut connection = opened(version);
    connection.subscribe(&["a"], QualityOfService::AtLeastOnce);
    connection.ping();
    let topic = Topic::new("t", QualityOfService::AtLeastOnce, version);
    assert_eq!(connection.publish(&Template::new(topic, 12), 8).count(), 8);
    written(&mut connection);
    connection
}

/// Describes events. Confirms are in single numbers, since pieces of bytes divide their runs.
fn described(connection: &mut Connection, bytes: &[u8], piece: usize) -> Vec<String> {
    let mut found = Vec::new();
    feed(connection, bytes, piece, |event| match event {
        Event::Confirmed { first, last, reason } => {
            found.extend((*first..=*last).map(|number| format!("confirmed {number} {reason}")));
        }
        Event::Delivery(message) => {
            let topic = String::from_utf8_lossy(&message.topic);
            let body = String::from_utf8_lossy(&message.body);
            let again = if message.is_duplicate { " again" } else { "" };
            found.push(format!("{topic} {:?} {body}{again}", message.packet));
        }
        Event::Answer { packet, reason } => found.push(format!("answer {packet} {reason}")),
        other => found.push(format!("{other:?}")),
    })
    .unwrap();
    found
}

#[test]
fn pieces_of_any_size_have_the_same_events() {
    let bytes = [
        b"\x90\x03\0\x01\x01\x40\x02\0\x02\x40\x02\0\x03\xd0\0\x40\x02\0\x09".to_vec(),
        message(0, b"", b"zero"),
        message(2, b"\x12\x34", b"one"),
        message(10, b"\0\x05", b""),
        message(2, b"\0\x06", &[b'x'; 200]),
        b"\x40\x02\0\x04".to_vec(),
    ]
    .concat();
    let long = format!("a/b Some(6) {}", "x".repeat(200));
    let expected = [
        "answer 1 success (0x00)",
        "confirmed 1 success (0x00)",
        "confirmed 2 success (0x00)",
        "Pong",
        "confirmed 8 success (0x00)",
        "a/b None zero",
        "a/b Some(4660) one",
        "a/b Some(5)  again",
        &long,
        "confirmed 3 success (0x00)",
    ];
    for piece in 1..=bytes.len() {
        let found = described(&mut publishing(Version::V3), &bytes, piece);
        assert_eq!(found, expected, "pieces of {piece} bytes");
    }
}

#[test]
fn version_five_has_reasons_and_properties() {
    let bytes = b"\x90\x04\0\x01\0\x87\x40\x02\0\x02\x40\x03\0\x03\x10\x40\x04\0\x04\x97\0\
        \x40\x09\0\x05\x80\x05\x1f\0\x02no\
        \x32\x0e\0\x01t\0\x09\x05\x01\x01\x23\0\x01abc";
    let expected = [
        "answer 1 not authorized (0x87)",
        "confirmed 1 success (0x00)",
        "confirmed 2 no matching subscribers (0x10)",
        "confirmed 3 quota exceeded (0x97)",
        "confirmed 4 unspecified error (0x80)",
        "t Some(9) abc",
    ];
    for piece in 1..=bytes.len() {
        let found = described(&mut publishing(Version::V5), bytes, piece);
        assert_eq!(found, expected, "pieces of {piece} bytes");
    }
}

#[test]
fn runs_of_confirms_with_one_reason_are_one_event() {
    let bytes = b"\x40\x02\0\x02\x40\x02\0\x03\x40\x03\0\x04\0\x40\x03\0\x05\x10\x40\x03\0\x06\x10\
        \x40\x02\0\x08\x40\x02\0\x07";
    let mut runs = Vec::new();
    feed(&mut publishing(Version::V5), bytes, usize::MAX, |event| {
        if let Event::Confirmed { first, last, reason } = event {
            runs.push((*first, *last, *reason));
        }
    })
    .unwrap();
    let (success, unrouted) = (Reason::SUCCESS, Reason::NO_SUBSCRIBERS);
    let expected = [(1, 3, success), (4, 5, unrouted), (7, 7, success), (6, 6, success)];
    assert_eq!(runs, expected);
}

#[test]
fn an_answer_to_a_request_has_its_first_refusal() {
    let mut connection = opened(Version::V3);
    let quality = QualityOfService::AtLeastOnce;
    let request = connection.subscribe(&["a", "b", "c"], quality);
    assert_eq!(connection.room(), 65_534);
    let found = described(&mut connection, b"\x90\x05\0\x01\x01\x80\0", 1);
    assert_eq!((request, found), (1, vec!["answer 1 unspecified error (0x80)".to_owned()]));
    assert_eq!((connection.unsubscribe(), connection.room()), (Some(2), 65_534));
    assert_eq!(described(&mut connection, b"\xb0\x02\0\x02", 1), ["answer 2 success (0x00)"]);
    assert_eq!(connection.room(), 65_535);
}

#[test]
fn large_messages_are_whole_and_copied_once() {
    for size in [100_000, 131_050, 131_072, 131_073, 300_000] {
        let body: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[1]).collect();
        let bytes = [message(2, b"\0\x07", &body), message(0, b"", b"next")].concat();
        for piece in [1000, 65_536, 131_072, 131_073, 200_000, usize::MAX] {
            let mut found = Vec::new();
            feed(&mut opened(Version::V3), &bytes, piece, |event| {
                let Event::Delivery(message) = event else { panic!("{event:?}") };
                found.push((message.packet, message.body.to_vec()));
            })
            .unwrap();
            let expected = [(Some(7), body.clone()), (None, b"next".to_vec())];
            assert!(found == expected, "{size} bytes in pieces of {piece}");
        }
    }
}
