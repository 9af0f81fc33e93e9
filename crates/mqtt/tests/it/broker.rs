//! The broker's side of a connection, as bytes.

use std::time::Instant;

use rabbitscope_mqtt::{Connection, ConnectionError, Event, Login, Mechanism, Version};
use rabbitscope_protocol::{Input, Wire as _};

/// The answer of `RabbitMQ` 3.10.8 to a login by MQTT 3.1.1.
pub(crate) const CONNACK_3: &[u8] = b"\x20\x02\0\0";

/// An answer to a login by MQTT 5: packets of at most 65,536 bytes, 2 aliases, a receive maximum of 100, quality 1, a name
/// and a value of the server's own.
pub(crate) const CONNACK_5: &[u8] = b"\x20\x17\0\0\x14\x27\0\x01\0\0\x22\0\x02\x21\0\x64\x24\x01\
    \x26\0\x01a\0\x01b";

/// A login as `guest`.
pub(crate) fn login(version: Version) -> Login {
    Login {
        version,
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        client_id: "probe".to_owned(),
        keep_alive_seconds: Some(30),
        receive_maximum: None,
    }
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
    assert!(kept.len() <= 128 * 1024, "{} bytes wait", kept.len());
    Ok(())
}

/// A connection that has logged in, with an empty output.
pub(crate) fn opened(version: Version) -> Connection {
    let mut connection = Connection::new(login(version), Instant::now());
    let answer = if version == Version::V5 { CONNACK_5 } else { CONNACK_3 };
    let mut events = Vec::new();
    feed(&mut connection, answer, usize::MAX, |event| events.push(format!("{event:?}"))).unwrap();
    assert_eq!(events, ["Opened"]);
    written(&mut connection);
    connection
}

/// Takes the output.
pub(crate) fn written(connection: &mut Connection) -> Vec<u8> {
    let bytes = connection.output().pending().to_vec();
    connection.output().advance(bytes.len());
    bytes
}
