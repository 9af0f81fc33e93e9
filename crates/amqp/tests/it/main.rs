//! The protocol against recorded bytes of a real broker, and against invalid bytes.
//!
//! `recorded/` holds the output of RabbitMQ 3.10.8 on three connections of one small run:
//! - `control`: a passive and an active declaration of a queue
//! - `publisher`: five confirmed messages
//! - `consumer`: five deliveries

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod damaged;
mod recorded;
mod renewal;
mod time;

use std::time::Instant;

use rabbitscope_amqp::{Connection, ConnectionError, Event, Uri};
use rabbitscope_protocol::{Input, Wire as _};

/// A new connection as `guest`.
fn connection() -> Connection {
    let uri = Uri::parse("amqp://localhost").unwrap();
    Connection::new(&uri, "test", Instant::now())
}

/// Feeds a recording in pieces of `piece` bytes to a client that opens a channel when it has none. Passes every event
/// to `on_event`.
fn play(
    bytes: &[u8],
    piece: usize,
    mut on_event: impl FnMut(&Event<'_>),
) -> Result<Connection, ConnectionError> {
    let mut connection = connection();
    let mut input = Vec::new();
    for piece in bytes.chunks(piece) {
        input.extend_from_slice(piece);
        let mut frames = Input::new(&input);
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
