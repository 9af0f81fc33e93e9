//! Bytes from a broker, in any pieces, with and without a handshake before: the connection ends in events or an error, and
//! keeps at most one message's bytes.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rabbitscope_amqp::{Connection, Event, Uri};
use rabbitscope_protocol::{Input, Wire as _};

/// Bytes that RabbitMQ sent to a consumer. Up to [`CHANNEL_OPENED`], they open a channel.
const RECORDED: &[u8] = include_bytes!("../../crates/amqp/tests/it/recorded/consumer.bin");
const CHANNEL_OPENED: [u8; 16] = [1, 0, 1, 0, 0, 0, 8, 0, 20, 0, 11, 0, 0, 0, 0, 0xce];

/// Method, header and a part of a body may wait for the rest of the body.
const WAITING_MAX: usize = 3 * 131_072;

fuzz_target!(|data: &[u8]| {
    let [mode, piece, data @ ..] = data else { return };
    let mut connection = Connection::new(&Uri::parse("amqp://h").unwrap(), "fuzz", Instant::now());
    let mut input = Vec::new();
    if mode & 1 == 1 {
        let opened = RECORDED.windows(16).position(|window| window == CHANNEL_OPENED).unwrap();
        let fed = feed(&mut connection, &mut input, &RECORDED[..opened + 16]);
        assert!(fed, "the recorded handshake is right");
    }
    for piece in data.chunks(usize::from(*piece) + 1) {
        if !feed(&mut connection, &mut input, piece) {
            return;
        }
    }
});

/// False: the connection is over.
fn feed(connection: &mut Connection, input: &mut Vec<u8>, bytes: &[u8]) -> bool {
    input.extend_from_slice(bytes);
    let mut frames = Input::new(input);
    let mut events = 0;
    loop {
        match connection.next_event(&mut frames) {
            Ok(Some(event)) => {
                events += 1;
                assert!(events <= input.len(), "an event takes at least a byte");
                if matches!(event, Event::Opened | Event::ChannelClosed { .. }) {
                    connection.open_channel().ok();
                }
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return false;
            }
        }
    }
    let consumed = frames.consumed();
    input.drain(..consumed);
    assert!(input.len() <= WAITING_MAX, "{} bytes wait", input.len());
    true
}
