//! Entries of several messages: their bytes, their confirms, and their compression.

use rabbitscope_protocol::{OutputBuffer, Wire as _};
use rabbitscope_streams::{
    Codec, Connection, Content, Event,
    protocol::commands::{PUBLISH, PUBLISH_CONFIRM, PUBLISH_ERROR},
};

use crate::broker::{feed, frame, opened};

/// A connection with publishers 5 and 6 and entries of up to three messages.
fn publishing(frame_max: u32, codec: Option<Codec>) -> Connection {
    let mut connection = opened(frame_max);
    for publisher in [5, 6] {
        connection.declare_publisher(publisher, publisher, "s", "");
    }
    connection.set_sub_entries(3, codec);
    taken(&mut connection);
    connection
}

/// Takes the output of a connection.
fn taken(connection: &mut Connection) -> Vec<u8> {
    let output: &mut OutputBuffer = connection.output();
    let bytes = output.pending().to_vec();
    output.advance(bytes.len());
    bytes
}

/// Encodes the messages of an entry.
fn messages(bodies: &[&[u8; 2]]) -> Vec<u8> {
    let message = |body: &&[u8; 2]| {
        [&7_u32.to_be_bytes()[..], &[0x00, 0x53, 0x75, 0xa0, 2], &body[..]].concat()
    };
    bodies.iter().flat_map(message).collect()
}

/// Encodes an entry whose messages have `plain` bytes.
fn entry(number: u64, kind: u8, count: u8, plain: usize, bytes: &[u8]) -> Vec<u8> {
    let size = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let head = [&number.to_be_bytes()[..], &[kind, 0, count], &size(plain), &size(bytes.len())];
    [&head.concat(), bytes].concat()
}

fn publish(connection: &mut Connection, publisher: u8, bodies: &[&[u8; 2]]) {
    for body in bodies {
        connection.publish_content(publisher, 0, &Content::new(&[0; 2]), &body[..]);
    }
}

#[test]
fn messages_fill_entries_and_entries_fill_frames() {
    let mut connection = publishing(4096, None);
    publish(&mut connection, 5, &[b"aa", b"bb", b"cc", b"dd"]);
    publish(&mut connection, 6, &[b"ee"]);
    let (first, second) = (messages(&[b"aa", b"bb", b"cc"]), messages(&[b"dd"]));
    let other = messages(&[b"ee"]);
    let plain = |number, count, bytes: &[u8]| entry(number, 0x80, count, bytes.len(), bytes);
    let expected = [
        frame(PUBLISH, &[&[5, 0, 0, 0, 2], &plain(3, 3, &first), &plain(4, 1, &second)]),
        frame(PUBLISH, &[&[6, 0, 0, 0, 1], &plain(1, 1, &other)]),
    ];
    assert_eq!(taken(&mut connection), expected.concat());
    publish(&mut connection, 5, &[b"ff"]);
    let expected = frame(PUBLISH, &[&[5, 0, 0, 0, 1], &plain(5, 1, &messages(&[b"ff"]))]);
    assert_eq!(taken(&mut connection), expected, "what is written takes no more messages");
}

#[test]
fn an_answer_is_for_all_messages_of_an_entry() {
    let mut connection = publishing(4096, None);
    publish(&mut connection, 5, &[b"aa", b"bb", b"cc", b"dd", b"ee"]);
    taken(&mut connection);
    let said = [
        frame(PUBLISH_ERROR, &[&[5, 0, 0, 0, 1], &5_u64.to_be_bytes(), &[0, 18]]),
        frame(PUBLISH_CONFIRM, &[&[5, 0, 0, 0, 1], &3_u64.to_be_bytes()]),
    ];
    let mut found = Vec::new();
    feed(&mut connection, &said.concat(), 3, |event| match event {
        Event::Confirmed { first, last, .. } => found.push(("confirmed", *first, *last)),
        Event::Refused { first, last, .. } => found.push(("refused", *first, *last)),
        _ => {}
    })
    .unwrap();
    assert_eq!(found, [("refused", 4, 5), ("confirmed", 1, 3)]);
}

#[test]
fn entries_are_compressed_when_their_bodies_are_complete() {
    let last_bytes = |plain: &[u8], into: &mut Vec<u8>| {
        into.extend(plain.chunks(11).filter_map(<[u8]>::last));
    };
    let codec = Codec { number: 4, compress: Box::new(last_bytes) };
    let mut connection = publishing(4096, Some(codec));
    publish(&mut connection, 5, &[b"aa", b"bb", b"cc", b"dd"]);
    let expected =
        [&[5, 0, 0, 0, 2][..], &entry(3, 0xc0, 3, 33, b"abc"), &entry(4, 0xc0, 1, 11, b"d")];
    assert_eq!(taken(&mut connection), frame(PUBLISH, &expected));
    publish(&mut connection, 5, &[b"ee"]);
    let next = frame(PUBLISH, &[&[5, 0, 0, 0, 1], &entry(5, 0xc0, 1, 11, b"e")]);
    assert_eq!(taken(&mut connection), next);
}

#[test]
fn frames_keep_to_the_limit() {
    let mut connection = publishing(160, None);
    let bodies = [b"aa"; 40];
    publish(&mut connection, 5, &bodies);
    let output = taken(&mut connection);
    let (mut rest, mut frames, mut bodies) = (&output[..], 0, 0);
    while let Some((size, _)) = rest.split_first_chunk() {
        let size = 4 + u32::from_be_bytes(*size) as usize;
        assert!(size <= 160, "{size}");
        bodies += rest[..size].windows(2).filter(|bytes| bytes == b"aa").count();
        rest = &rest[size..];
        frames += 1;
    }
    assert_eq!(bodies, 40);
    assert!((5..10).contains(&frames), "{frames}");
}

#[test]
fn a_frame_with_one_sub_entry_has_the_size_that_is_known_before() {
    for size in [2, 300, 70_000] {
        let mut connection = publishing(1 << 20, None);
        let content = Content::new(&vec![0; size]);
        connection.publish_content(5, 0, &content, b"");
        let written = taken(&mut connection).len() - 4;
        assert!(written <= content.sub_entry_frame_size(), "{written}");
        assert_eq!(written, content.frame_size() + 11);
    }
}
