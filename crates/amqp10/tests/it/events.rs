//! Events in order, whatever pieces the bytes come in.

use rabbitscope_amqp10::{
    Connection, Content, Event, Filter, Outcome, Receiver, Sections, Sender,
    protocol::codes::{CLOSE, DETACH, DISPOSITION, END, ERROR, FLOW},
};
use rabbitscope_protocol::Wire as _;

use crate::broker::{
    FALSE, NULL, TRUE, attached, begun, described, events, feed, flow, frame, map, opened,
    opened_by, output, performative, receiving, sending, symbol, text, transfer, uint,
};

/// Encodes a message with this body.
fn message(body: &[u8]) -> Vec<u8> {
    let size = u8::try_from(body.len()).unwrap();
    [&b"\x00\x53\x70\xc0\x05\x04\x41\x40\x40\x42\x00\x53\x75\xa0"[..], &[size], body].concat()
}

/// Encodes an outcome of messages.
fn disposition(first: u32, last: Option<u32>, code: u8) -> Vec<u8> {
    let (first, last) = (uint(first), last.map_or(NULL.to_vec(), uint));
    let state = [0x00, 0x53, code, 0x45];
    performative(3, DISPOSITION, &[TRUE, &first, &last, TRUE, &state])
}

/// A connection that has sent eight messages.
fn published() -> Connection {
    let mut connection = sending(400, 170);
    let content = Content::new(2, &Sections::default(), &[0; 12], 512);
    assert_eq!(connection.publish(&content, 8).count(), 8);
    connection
}

fn told_sender() -> Vec<u8> {
    [
        disposition(0, None, 0x24),
        frame(0, 0, b""),
        disposition(2, Some(3), 0x25),
        disposition(1, None, 0x26),
        disposition(4, Some(7), 0x24),
        flow(8, 0, 8, 162),
        flow(8, 400, 8, 170),
        flow(8, 400, 8, 170),
    ]
    .concat()
}

#[test]
fn pieces_of_any_size_have_the_same_events() {
    let expected = [
        "Settled { lane: 2, first: 1, last: 1, outcome: Accepted }",
        "Settled { lane: 2, first: 3, last: 4, outcome: Rejected }",
        "Settled { lane: 2, first: 2, last: 2, outcome: Released }",
        "Settled { lane: 2, first: 5, last: 8, outcome: Accepted }",
        "Blocked { lane: 2 }",
        "Unblocked { lane: 2 }",
        "Room { lane: 2 }",
    ];
    for piece in (1..40).chain([100, usize::MAX]) {
        let mut found = Vec::new();
        feed(&mut published(), &told_sender(), piece, |_, event| {
            found.push(format!("{event:?}"));
        })
        .unwrap();
        assert_eq!(found, expected, "pieces of {piece} bytes");
    }
}

#[test]
fn messages_in_one_or_several_frames_are_the_same() {
    let whole = message(&[b'y'; 100]);
    let told = [
        transfer(Some(u32::MAX), false, &message(b"a")),
        transfer(Some(0), true, &whole[..10]),
        transfer(None, true, &whole[10..11]),
        transfer(Some(0), false, &whole[11..]),
        transfer(Some(1), false, &message(b"b")),
    ]
    .concat();
    for piece in (1..40).chain([100, usize::MAX]) {
        let mut found = Vec::new();
        feed(&mut receiving(u32::MAX), &told, piece, |_, event| {
            let Event::Delivery(delivery) = event else { panic!("{event:?}") };
            assert!(delivery.is_redelivered() && !delivery.settled);
            let is_copied = matches!(delivery.bytes, std::borrow::Cow::Owned(_));
            let body = String::from_utf8_lossy(delivery.body()).into_owned();
            found.push((delivery.number - u64::from(u32::MAX), body, is_copied));
        })
        .unwrap();
        let long = "y".repeat(100);
        let expected = [(0, "a".to_owned(), false), (1, long, true), (2, "b".to_owned(), false)];
        assert_eq!(found, expected, "pieces of {piece} bytes");
    }
}

#[test]
fn links_end_with_the_brokers_reason() {
    let error = described(ERROR, &[&symbol("amqp:not-found"), &text("no queue 'q'")]);
    let ended = "Ended { lane: 2, address: \"/queues/q\", refusal: Refusal { condition: \"amqp:not-found\", \
                 description: \"no queue 'q'\" } }";
    // 4.x ends the session of a refused link.
    let mut connection = opened(512);
    let address = Some("/queues/q".to_owned());
    connection.attach_sender(2, &Sender { address, ..Sender::default() });
    output(&mut connection);
    let answer = [begun(2, 0, 400), performative(3, END, &[&error])].concat();
    assert_eq!(events(&mut connection, &answer), [ended]);
    assert_eq!(output(&mut connection), b"\0\0\0\x0c\x02\0\0\x02\0\x53\x17\x45");
    // Others detach it.
    let mut connection = sending(400, 170);
    let detach = performative(3, DETACH, &[&uint(0), TRUE, &error]);
    assert_eq!(events(&mut connection, &detach), [ended]);
    let answer =
        b"\0\0\0\x10\x02\0\0\x02\0\x53\x16\xc0\x03\x02\x43\x41\0\0\0\x0c\x02\0\0\x02\0\x53\x17\x45";
    assert_eq!(output(&mut connection), answer);
    assert_eq!(connection.room(2), 0);
    let none: [&str; 0] = [];
    assert_eq!(events(&mut connection, &performative(3, END, &[])), none);
}

#[test]
fn a_detached_session_can_begin_anew() {
    let mut connection = sending(400, 170);
    connection.detach(2);
    connection.detach(2);
    let answer = [performative(3, DETACH, &[&uint(0), TRUE]), performative(3, END, &[])].concat();
    assert_eq!(events(&mut connection, &answer), ["Detached { lane: 2 }"]);
    connection.attach_receiver(2, &Receiver::default());
    let answer = [begun(2, 7, 400), attached(true, 0)].concat();
    assert_eq!(events(&mut connection, &answer), ["Attached { lane: 2 }"]);
}

#[test]
fn filters_that_are_not_in_place_are_known() {
    let check = |version: &str, missing: &[&str]| {
        let mut connection = opened_by(version, 512);
        let values = vec!["a".to_owned()];
        let filters = vec![
            Filter::StreamMatchUnfiltered,
            Filter::StreamFilter(values),
            Filter::ApplicationProperties(Vec::new()),
            Filter::Sql("TRUE".to_owned()),
        ];
        connection.attach_receiver(2, &Receiver { filters, ..Receiver::default() });
        // The load does so before its receivers attach.
        connection.shrink();
        // Brokers repeat filters that they do not know.
        let names = ["rabbitmq:stream-filter", "amqp:application-properties-filter", "sql-filter"];
        let pairs: Vec<_> = names
            .map(|name| [symbol(name), [&[0x00][..], &symbol(name), &text("a")].concat()])
            .concat();
        let filters = map(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let source = described(0x28, &[NULL, NULL, NULL, NULL, NULL, NULL, NULL, &filters]);
        let target = described(0x29, &[]);
        let fields = [NULL, NULL, FALSE, NULL, NULL, &source, &target, NULL, NULL];
        let told = [begun(2, 0, 400), performative(3, 0x12, &fields)].concat();
        assert_eq!(events(&mut connection, &told), ["Attached { lane: 2 }"]);
        assert_eq!(connection.missing_filters(2), missing, "{version}");
    };
    let unfiltered = "rabbitmq:stream-match-unfiltered";
    let (values, headers) = ("rabbitmq:stream-filter", "amqp:application-properties-filter");
    check("4.2.0", &[unfiltered]);
    check("4.1.0-rc.1", &[unfiltered, "sql-filter"]);
    check("4.0.5", &[unfiltered, headers, "sql-filter"]);
    check("3.13.7", &[unfiltered, values, headers, "sql-filter"]);
}

#[test]
fn outcomes_and_credit_have_exact_bytes() {
    let mut connection = receiving(u32::MAX);
    output(&mut connection);
    let told = (0..5_u32).map(|at| transfer(Some(u32::MAX.wrapping_add(at)), false, b""));
    events(&mut connection, &told.collect::<Vec<_>>().concat());
    let first = u64::from(u32::MAX);
    connection.settle(2, first, first + 4, Outcome::Accepted);
    let expected = [
        &b"\0\0\0\x1e\x02\0\0\x02\0\x53\x15\xc0\x11\x05\x41"[..],
        b"\x70\xff\xff\xff\xff\x70\0\0\0\x03\x41\0\x53\x24\x45",
    ];
    assert_eq!(output(&mut connection), expected.concat());
    connection.settle(2, first, first, Outcome::Modified);
    let modified = output(&mut connection);
    assert_eq!(modified.len(), 33);
    assert_eq!(modified[11..13], [0xc0, 0x14]);
    assert_eq!(modified[26..], *b"\0\x53\x27\xc0\x02\x01\x41");
    connection.processed(2, 4);
    assert_eq!(output(&mut connection), b"");
    connection.processed(2, 1);
    // All five frames have arrived, the count has passed 0, and all ten may be sent again.
    let expected = [
        &b"\0\0\0\x20\x02\0\0\x02\0\x53\x13\xc0\x13\x07"[..],
        b"\x52\x04\x70\x7f\xff\xff\xff\x43\x70\x7f\xff\xff\xff\x43\x52\x04\x52\x0a",
    ];
    assert_eq!(output(&mut connection), expected.concat());
}

#[test]
fn a_flow_that_asks_is_answered() {
    let mut connection = sending(400, 170);
    let fields = [uint(0), uint(400), uint(0), uint(400)].concat();
    let size = u8::try_from(fields.len() + 7).unwrap();
    let body = [&[0, 0x53, FLOW, 0xc0, size, 10][..], &fields, &NULL.repeat(5), TRUE].concat();
    assert_eq!(events(&mut connection, &frame(0, 3, &body)), ["Room { lane: 2 }"]);
    assert_eq!(connection.room(2), 170, "the session's flow says nothing about credit");
    let answer = output(&mut connection);
    assert_eq!(answer[8..12], [0, 0x53, FLOW, 0xc0]);
    assert!(!answer.ends_with(TRUE), "it does not ask in turn");
}

#[test]
fn close_is_agreed_on() {
    let mut connection = opened(512);
    connection.close();
    assert_eq!(output(&mut connection), b"\0\0\0\x0c\x02\0\0\0\0\x53\x18\x45");
    assert_eq!(events(&mut connection, &performative(0, CLOSE, &[])), ["Closed"]);
    assert!(connection.is_closed());
}
