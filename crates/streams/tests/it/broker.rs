//! The broker's side of a connection, as bytes.

use std::time::Instant;

use rabbitscope_protocol::{Input, Wire as _};
use rabbitscope_streams::{
    Connection, ConnectionError, Event, Login, Mechanism,
    protocol::commands::{ANSWER, OPEN, PEER_PROPERTIES, SASL_AUTHENTICATE, SASL_HANDSHAKE, TUNE},
};

/// A login as `guest`.
pub(crate) fn login() -> Login {
    Login {
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        name: "test".to_owned(),
        heartbeat_seconds: None,
    }
}

/// Encodes a frame.
pub(crate) fn frame(key: u16, content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    let size = u32::try_from(content.len() + 4).unwrap();
    [&size.to_be_bytes()[..], &key.to_be_bytes(), &1_u16.to_be_bytes(), &content].concat()
}

/// Encodes a text.
pub(crate) fn text(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    [&length.to_be_bytes()[..], text.as_bytes()].concat()
}

/// Encodes an answer with this number.
pub(crate) fn answer(key: u16, correlation: u32, code: u16, rest: &[u8]) -> Vec<u8> {
    frame(key | ANSWER, &[&correlation.to_be_bytes(), &code.to_be_bytes(), rest])
}

/// Encodes the answers of a login, with frames of at most `frame_max` bytes.
pub(crate) fn handshake(frame_max: u32) -> Vec<u8> {
    handshake_of("3.10.8", frame_max)
}

/// Encodes the answers of a login to a broker of this version.
pub(crate) fn handshake_of(version: &str, frame_max: u32) -> Vec<u8> {
    let one = 1_u32.to_be_bytes();
    let pair = |key: &str, value: &str| [&one[..], &text(key), &text(value)].concat();
    [
        answer(PEER_PROPERTIES, 1, 1, &pair("version", version)),
        answer(SASL_HANDSHAKE, 2, 1, &[&one[..], &text("PLAIN")].concat()),
        answer(SASL_AUTHENTICATE, 3, 1, b""),
        frame(TUNE, &[&frame_max.to_be_bytes(), &60_u32.to_be_bytes()]),
        answer(OPEN, 4, 1, &pair("advertised_port", "5552")),
    ]
    .concat()
}

/// Feeds bytes in pieces, and passes each event to `on_event`. Bytes that the connection has not taken precede the next
/// piece.
pub(crate) fn feed(
    connection: &mut Connection,
    bytes: &[u8],
    piece: usize,
    mut on_event: impl FnMut(&Event<'_>),
) -> Result<(), ConnectionError> {
    let mut kept = Vec::new();
    for piece in bytes.chunks(piece) {
        kept.extend_from_slice(piece);
        let mut input = Input::new(&kept);
        while let Some(event) = connection.next_event(&mut input)? {
            on_event(&event);
        }
        let consumed = input.consumed();
        kept.drain(..consumed);
    }
    assert!(kept.len() <= 8192, "{} bytes wait", kept.len());
    Ok(())
}

/// A connection that has logged in, with an empty output.
pub(crate) fn opened(frame_max: u32) -> Connection {
    let mut connection = Connection::new(login(), Instant::now());
    let mut events = Vec::new();
    feed(&mut connection, &handshake(frame_max), usize::MAX, |event| {
        events.push(format!("{event:?}"));
    })
    .unwrap();
    assert_eq!(events, ["Opened"]);
    let written = connection.output().pending().len();
    connection.output().advance(written);
    connection
}
