//! Publishers of several streams: ids, numbers and frames.

use rabbitscope_protocol::Wire as _;
use rabbitscope_streams::{
    Content, Event,
    protocol::commands::{PUBLISH, PUBLISH_CONFIRM, PUBLISH_ERROR},
};

use crate::broker::{feed, frame, opened};

#[test]
fn messages_of_all_partitions_are_numbered_in_one_row() {
    let mut connection = opened(4096);
    for (id, stream) in [(7, "orders-0"), (8, "orders-1")] {
        connection.declare_publisher(2, id, stream, "");
    }
    let output = connection.output();
    output.advance(output.pending().len());
    for (stream, body) in [(0, b"a"), (1, b"b"), (0, b"c"), (1, b"d"), (0, b"e")] {
        connection.publish_content(2, stream, &Content::new(b"_"), body);
    }
    let entry = |number: u64, body: u8| {
        [&number.to_be_bytes()[..], &[0, 0, 0, 6, 0, 0x53, 0x75, 0xa0, 1, body]].concat()
    };
    let expected = [
        frame(PUBLISH, &[&[7, 0, 0, 0, 3], &entry(1, b'a'), &entry(3, b'c'), &entry(5, b'e')]),
        frame(PUBLISH, &[&[8, 0, 0, 0, 2], &entry(2, b'b'), &entry(4, b'd')]),
    ];
    assert_eq!(connection.output().pending(), expected.concat());
    let confirms = |id: u8, numbers: &[u64]| {
        let count = u32::try_from(numbers.len()).unwrap().to_be_bytes();
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        frame(PUBLISH_CONFIRM, &[&[id], &count, &numbers])
    };
    let said = [confirms(8, &[2, 4]), confirms(7, &[1, 3, 5])].concat();
    let mut found = Vec::new();
    feed(&mut connection, &said, 5, |event| {
        if let Event::Confirmed { publisher, first, last } = event {
            found.push((*publisher, *first, *last));
        }
    })
    .unwrap();
    assert_eq!(found, [(2, 2, 2), (2, 4, 4), (2, 1, 1), (2, 3, 3), (2, 5, 5)]);
}

/// One confirm of an entry settles messages that others lie between.
#[test]
fn entries_of_partitions_are_confirmed_message_by_message() {
    let mut connection = opened(4096);
    connection.set_sub_entries(10, None);
    for (id, stream) in [(7, "orders-0"), (8, "orders-1")] {
        connection.declare_publisher(2, id, stream, "");
    }
    for stream in [0, 1, 1, 0, 1] {
        connection.publish_content(2, stream, &Content::new(b"_"), b"x");
    }
    connection.output();
    let confirm =
        |id: u8, number: u64| frame(PUBLISH_CONFIRM, &[&[id, 0, 0, 0, 1], &number.to_be_bytes()]);
    let refusal = frame(PUBLISH_ERROR, &[&[7, 0, 0, 0, 1], &4_u64.to_be_bytes(), &[0, 6]]);
    let mut found = Vec::new();
    for piece in [1, usize::MAX] {
        let said = if piece == 1 { confirm(8, 5) } else { refusal.clone() };
        feed(&mut connection, &said, piece, |event| match event {
            Event::Confirmed { publisher, first, last } => found.push((*publisher, *first, *last)),
            Event::Refused { first, last, code, .. } => {
                found.push((u8::try_from(code.0).unwrap(), *first, *last));
            }
            _ => {}
        })
        .unwrap();
    }
    assert_eq!(found, [(2, 2, 3), (2, 5, 5), (6, 1, 1), (6, 4, 4)]);
}
