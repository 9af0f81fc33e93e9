//! Events in order, whatever pieces the bytes come in.

use std::time::Instant;

use rabbitscope_protocol::{Encoded as _, Wire as _};
use rabbitscope_streams::{
    Connection, Content, Event, Message, Offset, Template,
    protocol::commands::{
        CLOSE, CONSUMER_UPDATE, CREDIT, DELIVER, HEARTBEAT, METADATA_UPDATE, PUBLISH,
        PUBLISH_CONFIRM, PUBLISH_ERROR, QUERY_OFFSET, SASL_AUTHENTICATE, STORE_OFFSET, SUBSCRIBE,
    },
};

use crate::broker::{answer, feed, frame, handshake_of, login, opened, text};

/// Encodes a message with this body as an entry of a chunk.
fn entry(body: &[u8]) -> Vec<u8> {
    let length = u8::try_from(body.len()).unwrap();
    let message = [&[0x00, 0x53, 0x75, 0xa0, length][..], body].concat();
    [&u32::try_from(message.len()).unwrap().to_be_bytes()[..], &message].concat()
}

/// Encodes a chunk of these entries for subscription 3.
fn chunk(offset: u64, entries: &[Vec<u8>], records: u32) -> Vec<u8> {
    let data = entries.concat();
    let length = u32::try_from(data.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap();
    let head = [
        &[0x50, 0][..],
        &count.to_be_bytes(),
        &records.to_be_bytes(),
        &[0; 16],
        &offset.to_be_bytes(),
        &[0; 4],
        &length.to_be_bytes(),
        // A trailer is announced, but not sent.
        &13_u32.to_be_bytes(),
        &[0; 4],
    ]
    .concat();
    assert_eq!(head.len(), 48);
    frame(DELIVER, &[&[3], &head, &data])
}

fn said() -> Vec<u8> {
    let several =
        [&[0x80, 0, 2, 0, 0, 0, 18, 0, 0, 0, 18][..], &entry(b"c"), &entry(b"d")].concat();
    let packed = [&[0x90, 0, 9, 0, 0, 1, 0, 0, 0, 0, 3][..], b"zip"].concat();
    let numbers: Vec<u8> = [1_u64, 2, 3, 7, 8].iter().flat_map(|one| one.to_be_bytes()).collect();
    [
        frame(PUBLISH_CONFIRM, &[&[5], &5_u32.to_be_bytes(), &numbers]),
        frame(HEARTBEAT, &[]),
        frame(PUBLISH_ERROR, &[&[5], &1_u32.to_be_bytes(), &4_u64.to_be_bytes(), &[0, 18]]),
        answer(SUBSCRIBE, 9, 1, b""),
        chunk(70, &[entry(b"a"), entry(b"b"), several, packed, entry(b"e")], 14),
        frame(CREDIT | 0x8000, &[&[0, 4], &[3]]),
        frame(METADATA_UPDATE, &[&[0, 6], &text("orders")]),
        answer(CLOSE, 10, 1, b""),
    ]
    .concat()
}

/// A connection that has sent eight messages of publisher 5.
fn publishing() -> Connection {
    let mut connection = opened(4096);
    connection.declare_publisher(5, 5, "s", "");
    assert_eq!(connection.publish(&Template::new(5, 12), 8).count(), 8);
    connection
}

/// Describes events. Confirms are in single numbers, since pieces of bytes divide their runs.
fn described(piece: usize) -> Vec<String> {
    let mut found = Vec::new();
    feed(&mut publishing(), &said(), piece, |event| match event {
        Event::Confirmed { publisher, first, last } => {
            found.extend((*first..=*last).map(|number| format!("confirmed {publisher} {number}")));
        }
        Event::Delivery(message) => {
            let body = String::from_utf8_lossy(message.body());
            found.push(format!("message {} {} {body}", message.subscription, message.offset));
        }
        Event::Packed(packed) => {
            let (offset, count, codec) = (packed.offset, packed.count, packed.codec);
            found.push(format!("packed {offset} {count} {codec} {:?}", packed.bytes));
        }
        other => found.push(format!("{other:?}")),
    })
    .unwrap();
    found
}

#[test]
fn pieces_of_any_size_have_the_same_events() {
    let expected = [
        "confirmed 5 1",
        "confirmed 5 2",
        "confirmed 5 3",
        "confirmed 5 7",
        "confirmed 5 8",
        "Refused { publisher: 5, first: 4, last: 4, code: Code(18) }",
        "Answer { correlation: 9, code: Code(1), content: [] }",
        "message 3 70 a",
        "message 3 71 b",
        "message 3 72 c",
        "message 3 73 d",
        "packed 74 9 1 [122, 105, 112]",
        "message 3 83 e",
        "ChunkEnd { subscription: 3 }",
        "CreditRefused { subscription: 3, code: Code(4) }",
        "StreamGone { stream: \"orders\", code: Code(6) }",
        "Closed",
    ];
    for piece in (1..40).chain([100, usize::MAX]) {
        assert_eq!(described(piece), expected, "pieces of {piece} bytes");
    }
}

#[test]
fn runs_of_confirms_are_one_event() {
    let mut runs = Vec::new();
    feed(&mut publishing(), &said(), usize::MAX, |event| {
        if let Event::Confirmed { first, last, .. } = event {
            runs.push((*first, *last));
        }
    })
    .unwrap();
    assert_eq!(runs, [(1, 3), (7, 8)]);
}

#[test]
fn a_confirm_of_a_message_that_was_not_sent_is_an_error() {
    let bytes = frame(PUBLISH_CONFIRM, &[&[5], &1_u32.to_be_bytes(), &9_u64.to_be_bytes()]);
    let error = feed(&mut publishing(), &bytes, usize::MAX, |_| {}).unwrap_err().to_string();
    assert!(error.contains("message 9 of publisher 5, which was not sent"), "{error}");
}

#[test]
fn confirms_of_messages_that_are_sent_again_have_their_positions() {
    let mut connection = opened(4096);
    connection.declare_publisher(0, 0, "s", "mine");
    connection.resume(0, vec![5, 6, 9], 10);
    assert_eq!(connection.publish(&Template::new(0, 12), 5).count(), 5);
    let numbers: Vec<u8> = [5_u64, 6, 9, 10].iter().flat_map(|one| one.to_be_bytes()).collect();
    let bytes = frame(PUBLISH_CONFIRM, &[&[0], &4_u32.to_be_bytes(), &numbers]);
    let mut runs = Vec::new();
    feed(&mut connection, &bytes, usize::MAX, |event| {
        if let Event::Confirmed { first, last, .. } = event {
            runs.push((*first, *last));
        }
    })
    .unwrap();
    assert_eq!(runs, [(1, 2), (3, 4)]);
}

#[test]
fn a_message_of_twelve_bytes_has_29_bytes_besides_the_frame() {
    let mut connection = opened(4096);
    connection.declare_publisher(2, 2, "orders", "");
    let before = connection.output().pending().len();
    let template = Template::new(2, 12);
    assert_eq!(template.wire_size(), 29);
    for (number, body) in (1..).zip(connection.publish(&template, 3)) {
        body.copy_from_slice(&[number; 12]);
    }
    let written = &connection.output().pending()[before..];
    assert_eq!(written.len(), 13 + 3 * 29);
    assert_eq!(&written[..13], b"\0\0\0\x60\0\x02\0\x01\x02\0\0\0\x03");
    let first = [&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 17, 0, 0x53, 0x75, 0xa0, 12][..], &[1; 12]];
    assert_eq!(written[13..42], first.concat());
    assert_eq!(written[42..50], 2_u64.to_be_bytes());
}

#[test]
fn the_size_of_a_frame_is_known_before_it_is_encoded() {
    let mut connection = opened(1 << 20);
    connection.declare_publisher(0, 0, "s", "");
    for size in [0, 12, 255, 256, 70_000] {
        let before = connection.output().pending().len();
        let content = Content::new(&vec![0; size]);
        connection.publish_content(0, 0, &content, b"");
        let written = connection.output().pending().len() - before;
        assert_eq!(written, content.frame_size() + 4, "{size}");
    }
}

#[test]
fn frames_do_not_exceed_the_agreed_size() {
    let mut connection = opened(100);
    connection.declare_publisher(0, 0, "s", "");
    let before = connection.output().pending().len();
    let bodies = connection.publish(&Template::new(0, 12), 7).count();
    let content = Content::new(&[9; 12]);
    for _ in 0..4 {
        connection.publish_content(0, 0, &content, b"head");
    }
    let mut rest = &connection.output().pending()[before..];
    let (mut counts, mut sequences) = (Vec::new(), Vec::new());
    while let Some((size, _)) = rest.split_first_chunk() {
        let (frame, behind) = rest.split_at(4 + u32::from_be_bytes(*size) as usize);
        assert!(frame.len() <= 100 + 4);
        counts.push(frame[12]);
        let messages = frame[13..].chunks(29);
        sequences.extend(messages.map(|message| message[7]));
        rest = behind;
    }
    assert_eq!((bodies, counts), (7, vec![3, 3, 1, 3, 1]));
    assert_eq!(sequences, (1..=11).collect::<Vec<u8>>());
}

#[test]
fn a_frame_that_may_be_written_does_not_grow() {
    let mut connection = opened(4096);
    connection.declare_publisher(0, 0, "s", "");
    connection.declare_publisher(1, 1, "s", "");
    let taken = connection.output().pending().len();
    connection.output().advance(taken);
    let content = Content::new(b"body");
    connection.publish_content(0, 0, &content, b"");
    connection.publish_content(0, 0, &content, b"");
    connection.publish_content(1, 0, &content, b"");
    connection.output();
    connection.publish_content(1, 0, &content, b"");
    connection.credit(0, 1);
    connection.publish_content(1, 0, &content, b"");
    let one = content.wire_size();
    let expected = 4 * 13 + 5 * one + 11;
    assert_eq!(connection.output().pending().len(), expected);
}

/// A text before the message, and the same in an annotation of it.
#[test]
fn a_message_with_a_filter_value_has_it_twice() {
    let mut connection = opened(4096);
    connection.declare_publisher(2, 2, "orders", "");
    connection.set_filters();
    let before = connection.output().pending().len();
    connection.publish_content(2, 0, &Content::new(b"____").with_filter("ab"), b"head");
    let annotation =
        [&b"\x00\x53\x72\xc1\x1c\x02\xa3\x15x-stream-filter-value"[..], b"\xa1\x02ab"].concat();
    let message = [&annotation[..], b"\x00\x53\x75\xa0\x04head"].concat();
    let size = u32::try_from(message.len()).unwrap().to_be_bytes();
    let entry = [&1_u64.to_be_bytes()[..], &text("ab"), &size, &message].concat();
    let mut expected = frame(PUBLISH, &[&[2, 0, 0, 0, 1], &entry]);
    expected[7] = 2;
    assert_eq!(connection.output().pending()[before..], expected);
    // All messages of a template have the same value.
    let before = connection.output().pending().len();
    let template = Template::new(2, 4).with_filter("ab");
    for body in connection.publish(&template, 1) {
        body.copy_from_slice(b"head");
    }
    expected[20] = 2;
    assert_eq!(connection.output().pending()[before..], expected);
    let found = Message { subscription: 0, offset: 0, bytes: &message };
    assert_eq!((found.filter_value(), found.body()), (Some(&b"ab"[..]), &b"head"[..]));
}

#[test]
fn a_single_active_consumer_says_where_it_begins() {
    let mut connection = opened(4096);
    let said = [
        frame(CONSUMER_UPDATE, &[&7_u32.to_be_bytes(), &[3, 1]]),
        answer(QUERY_OFFSET, 9, 1, &40_u64.to_be_bytes()),
        frame(CONSUMER_UPDATE, &[&8_u32.to_be_bytes(), &[3, 0]]),
    ];
    let mut events = Vec::new();
    feed(&mut connection, &said.concat(), 5, |event| {
        events.push(format!("{event:?}"));
        if let Event::Answer { content, .. } = event {
            assert_eq!(Offset::from_stored(content), Some(Offset::At(41)));
        }
    })
    .unwrap();
    let update = |correlation: u32, is_active: bool| {
        format!("Update {{ correlation: {correlation}, subscription: 3, is_active: {is_active} }}")
    };
    assert_eq!([&events[0], &events[2]], [&update(7, true), &update(8, false)]);
    connection.store_offset("app", "orders", 40);
    connection.answer_update(7, Some(Offset::At(41)));
    connection.answer_update(8, None);
    let ok = [0, 1];
    let expected = [
        frame(STORE_OFFSET, &[&text("app"), &text("orders"), &40_u64.to_be_bytes()]),
        frame(CONSUMER_UPDATE | 0x8000, &[&[0, 0, 0, 7], &ok, &[0, 4], &41_u64.to_be_bytes()]),
        frame(CONSUMER_UPDATE | 0x8000, &[&[0, 0, 0, 8], &ok, &[0, 0]]),
    ];
    assert_eq!(connection.output().pending(), expected.concat());
}

/// The broker of the tests is of 3.10, which closes the connection at a second login.
#[test]
fn a_new_token_is_for_brokers_that_take_it() {
    let renewed = |version: &str| {
        let mut connection = Connection::new(login(), Instant::now());
        let said = handshake_of(version, 4096);
        feed(&mut connection, &said, usize::MAX, |_| {}).unwrap();
        let written = connection.output().pending().len();
        connection.output().advance(written);
        connection.renew("token");
        connection
    };
    assert!(renewed("3.10.8").output().is_empty());
    let mut connection = renewed("4.0.5");
    let response = b"\0guest\0token";
    let size = u32::try_from(response.len()).unwrap().to_be_bytes();
    let expected =
        frame(SASL_AUTHENTICATE, &[&5_u32.to_be_bytes(), &text("PLAIN"), &size, response]);
    assert_eq!(connection.output().pending(), expected);
    let mut events = 0;
    feed(&mut connection, &answer(SASL_AUTHENTICATE, 5, 1, b""), 3, |_| events += 1).unwrap();
    assert_eq!(events, 0);
    let refused = answer(SASL_AUTHENTICATE, 5, 8, b"");
    let error = feed(&mut renewed("4.0.5"), &refused, 3, |_| {}).unwrap_err();
    assert!(error.to_string().contains("authentication failure"), "{error}");
}

#[test]
fn a_place_hides_earlier_messages_of_its_chunk() {
    assert!(Offset::At(5).is_behind(4) && !Offset::At(5).is_behind(5));
    assert!(!Offset::First.is_behind(0) && !Offset::Next.is_behind(3));
}
