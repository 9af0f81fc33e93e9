//! The protocol against bytes that a real broker sent, and against bytes that nobody should send.
//!
//! `recorded/` holds what RabbitMQ 3.10.8 wrote to three connections of one small run: a queue that
//! is looked up and declared (`control`), five confirmed messages (`publisher`), five deliveries
//! (`consumer`).

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod damaged;
mod recorded;
mod time;

use std::time::Instant;

use rabbitscope_amqp::{Connection, ConnectionError, Event, Frames, Uri};

/// A new connection as `guest`.
fn connection() -> Connection {
    let uri = Uri::parse("amqp://localhost").unwrap();
    Connection::new(&uri, "test", Instant::now())
}

/// A recording, fed in pieces of `piece` bytes to a client that opens a channel whenever it has
/// none. Hands every event to `on_event`.
fn play(
    bytes: &[u8],
    piece: usize,
    mut on_event: impl FnMut(&Event<'_>),
) -> Result<Connection, ConnectionError> {
    let mut connection = connection();
    let mut input = Vec::new();
    for piece in bytes.chunks(piece) {
        input.extend_from_slice(piece);
        let mut frames = Frames::new(&input);
        while let Some(event) = connection.next_event(&mut frames)? {
            on_event(&event);
            match event {
                Event::Opened | Event::ChannelClosed { .. } => {
                    connection.open_channel()?;
                }
                _ => {}
            }
        }
        let consumed = frames.consumed();
        input.drain(..consumed);
    }
    Ok(connection)
}
