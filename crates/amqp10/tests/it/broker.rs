//! The broker's side of a connection, as bytes.

use std::time::Instant;

use rabbitscope_amqp10::{
    Connection, ConnectionError, Event, Login, Mechanism, Receiver, Sender,
    protocol::codes::{
        AMQP_HEADER, ATTACH, BEGIN, FLOW, OPEN, SASL_HEADER, SASL_MECHANISMS, SASL_OUTCOME, SOURCE,
        TARGET, TRANSFER,
    },
};
use rabbitscope_protocol::{Input, Wire as _};

pub(crate) const NULL: &[u8] = b"\x40";
pub(crate) const TRUE: &[u8] = b"\x41";
pub(crate) const FALSE: &[u8] = b"\x42";

/// A login as `guest`.
pub(crate) fn login() -> Login {
    Login {
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        name: "test".to_owned(),
        heartbeat_seconds: None,
        sessions: 4,
    }
}

/// Encodes a number.
pub(crate) fn uint(number: u32) -> Vec<u8> {
    [&[0x70][..], &number.to_be_bytes()].concat()
}

/// Encodes a symbol.
pub(crate) fn symbol(text: &str) -> Vec<u8> {
    [&[0xa3, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
}

/// Encodes a text.
pub(crate) fn text(text: &str) -> Vec<u8> {
    [&[0xa1, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
}

/// Encodes a list with this code.
pub(crate) fn described(code: u8, elements: &[&[u8]]) -> Vec<u8> {
    let content = elements.concat();
    let size = u32::try_from(content.len() + 4).unwrap();
    let count = u32::try_from(elements.len()).unwrap();
    let head = [0x00, 0x53, code, 0xd0];
    [&head[..], &size.to_be_bytes(), &count.to_be_bytes(), &content].concat()
}

/// Encodes a map.
pub(crate) fn map(elements: &[&[u8]]) -> Vec<u8> {
    let content = elements.concat();
    let count = u8::try_from(elements.len()).unwrap();
    [&[0xc1, u8::try_from(content.len() + 1).unwrap(), count][..], &content].concat()
}

/// Encodes a frame.
pub(crate) fn frame(kind: u8, channel: u16, body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(body.len() + 8).unwrap();
    [&size.to_be_bytes()[..], &[2, kind], &channel.to_be_bytes(), body].concat()
}

/// Encodes a frame with a performative of the connection.
pub(crate) fn performative(channel: u16, code: u8, fields: &[&[u8]]) -> Vec<u8> {
    frame(0, channel, &described(code, fields))
}

/// Encodes the answers of a login, with frames of at most `frame_max` bytes.
pub(crate) fn handshake(frame_max: u32) -> Vec<u8> {
    handshake_of("4.0.5", frame_max)
}

/// Encodes the answers of a login by a broker of this version.
pub(crate) fn handshake_of(version: &str, frame_max: u32) -> Vec<u8> {
    let mechanisms = [&[0xe0, 18, 2, 0xa3, 5][..], b"PLAIN\x09ANONYMOUS"].concat();
    let properties = map(&[&symbol("version"), &text(version)]);
    let open = [
        text("rabbit@here"),
        NULL.to_vec(),
        uint(frame_max),
        b"\x60\xff\xff".to_vec(),
        uint(60_000),
        NULL.repeat(4),
        properties,
    ]
    .concat();
    let size = u32::try_from(open.len() + 4).unwrap();
    let open = [&[0, 0x53, OPEN, 0xd0][..], &size.to_be_bytes(), &[0, 0, 0, 10], &open].concat();
    [
        SASL_HEADER.to_vec(),
        frame(1, 0, &described(SASL_MECHANISMS, &[&mechanisms])),
        frame(1, 0, &described(SASL_OUTCOME, &[b"\x50\x00"])),
        AMQP_HEADER.to_vec(),
        frame(0, 0, &open),
    ]
    .concat()
}

/// Feeds bytes in pieces, and passes each event to `on_event`. Bytes that the connection has not taken precede the next
/// piece.
pub(crate) fn feed(
    connection: &mut Connection,
    bytes: &[u8],
    piece: usize,
    mut on_event: impl FnMut(&mut Connection, &Event<'_>),
) -> Result<(), ConnectionError> {
    let mut kept = Vec::new();
    for piece in bytes.chunks(piece) {
        kept.extend_from_slice(piece);
        let mut input = Input::new(&kept);
        while let Some(event) = connection.next_event(&mut input)? {
            on_event(connection, &event);
        }
        let consumed = input.consumed();
        kept.drain(..consumed);
    }
    Ok(())
}

/// Returns all events of these bytes, described.
pub(crate) fn events(connection: &mut Connection, bytes: &[u8]) -> Vec<String> {
    let mut events = Vec::new();
    feed(connection, bytes, usize::MAX, |_, event| events.push(format!("{event:?}"))).unwrap();
    events
}

/// Takes the output.
pub(crate) fn output(connection: &mut Connection) -> Vec<u8> {
    let bytes = connection.output().pending().to_vec();
    connection.output().advance(bytes.len());
    bytes
}

/// A connection that has logged in, with an empty output.
pub(crate) fn opened(frame_max: u32) -> Connection {
    opened_by("4.0.5", frame_max)
}

/// A connection that has logged in to a broker of this version.
pub(crate) fn opened_by(version: &str, frame_max: u32) -> Connection {
    let mut connection = Connection::new(login(), Instant::now());
    assert_eq!(events(&mut connection, &handshake_of(version, frame_max)), ["Opened"]);
    output(&mut connection);
    connection
}

/// Encodes the answer to `begin` on channel 3.
pub(crate) fn begun(lane: u16, next_outgoing_id: u32, incoming_window: u32) -> Vec<u8> {
    let lane = uint(lane.into());
    let fields = [&lane, &uint(next_outgoing_id), &uint(incoming_window), &uint(65_535)];
    performative(3, BEGIN, &fields.map(Vec::as_slice))
}

/// Encodes the answer to the `attach` of a link on channel 3.
pub(crate) fn attached(is_receiver: bool, delivery_count: u32) -> Vec<u8> {
    let role = if is_receiver { FALSE } else { TRUE };
    let (source, target) = (described(SOURCE, &[]), described(TARGET, &[]));
    let count = uint(delivery_count);
    let fields = [NULL, NULL, role, NULL, NULL, &source, &target, NULL, NULL, &count];
    performative(3, ATTACH, &fields)
}

/// Encodes a `flow` on channel 3 for a sender.
pub(crate) fn flow(taken: u32, window: u32, delivery_count: u32, credit: u32) -> Vec<u8> {
    let fields = [taken, window, 0, 65_535, 0, delivery_count, credit].map(uint);
    performative(3, FLOW, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Encodes a frame of a message on channel 3.
pub(crate) fn transfer(delivery_id: Option<u32>, more: bool, payload: &[u8]) -> Vec<u8> {
    let id = delivery_id.map_or(NULL.to_vec(), uint);
    let more = if more { TRUE } else { FALSE };
    let fields = [&uint(0)[..], &id, b"\xa0\x01x", NULL, FALSE, more];
    frame(0, 3, &[&described(TRANSFER, &fields)[..], payload].concat())
}

/// A connection with an attached sender in session 2, and with this room.
pub(crate) fn sending(window: u32, credit: u32) -> Connection {
    let mut connection = opened(512);
    let address = Some("/queues/q".to_owned());
    let sender = Sender { name: "s".to_owned(), address, frames: 1 };
    connection.attach_sender(2, &sender);
    let answer = [begun(2, 0, window), attached(false, 0), flow(0, window, 0, credit)].concat();
    assert_eq!(events(&mut connection, &answer), ["Attached { lane: 2 }", "Room { lane: 2 }"]);
    output(&mut connection);
    connection
}

/// A connection with an attached receiver in session 2, with a credit of 10. Its first message and its first frame have
/// the number `first`.
pub(crate) fn receiving(first: u32) -> Connection {
    let mut connection = opened(512);
    let receiver = Receiver { name: "r".to_owned(), credit: 10, ..Receiver::default() };
    connection.attach_receiver(2, &receiver);
    let answer = [begun(2, first, 400), attached(true, first)].concat();
    assert_eq!(events(&mut connection, &answer), ["Attached { lane: 2 }"]);
    connection
}
