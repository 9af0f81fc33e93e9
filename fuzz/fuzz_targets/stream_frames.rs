//! Bytes of the stream protocol from a broker, in any pieces, with and without a login before: the connection ends in
//! events or an error, keeps at most one entry's bytes, and has each message's body within the message.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rabbitscope_protocol::{Input, Wire as _};
use rabbitscope_streams::{Connection, Event, Login, Mechanism};

/// The answers of a login: properties, mechanisms, success, limits of 4,096 bytes and 60 s, virtual host.
const LOGIN: &[u8] = b"\x00\x00\x00\x0e\x80\x11\x00\x01\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\
    \x00\x00\x00\x15\x80\x12\x00\x01\x00\x00\x00\x02\x00\x01\x00\x00\x00\x01\x00\x05PLAIN\
    \x00\x00\x00\x0a\x80\x13\x00\x01\x00\x00\x00\x03\x00\x01\
    \x00\x00\x00\x0c\x00\x14\x00\x01\x00\x00\x10\x00\x00\x00\x00\x3c\
    \x00\x00\x00\x0e\x80\x15\x00\x01\x00\x00\x00\x04\x00\x01\x00\x00\x00\x00";

/// A frame, and an entry of a chunk, may wait for their rest.
const WAITING_MAX: usize = 8 * 1024 + 64;

fuzz_target!(|data: &[u8]| {
    let [mode, piece, data @ ..] = data else { return };
    let login = Login {
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        name: "fuzz".to_owned(),
        heartbeat_seconds: None,
    };
    let mut connection = Connection::new(login, Instant::now());
    let mut input = Vec::new();
    if mode & 1 == 1 {
        assert!(feed(&mut connection, &mut input, LOGIN), "the login is right");
    }
    for piece in data.chunks(usize::from(*piece) + 1) {
        if !feed(&mut connection, &mut input, piece) {
            return;
        }
    }
});

/// False: the connection is over.
fn feed(connection: &mut Connection, kept: &mut Vec<u8>, bytes: &[u8]) -> bool {
    kept.extend_from_slice(bytes);
    let mut input = Input::new(kept);
    let mut events = 0;
    loop {
        match connection.next_event(&mut input) {
            Ok(Some(event)) => {
                events += 1;
                assert!(events <= kept.len() + 1, "an event takes at least a byte, but for an end");
                if let Event::Delivery(message) = event {
                    assert!(message.body().len() <= message.bytes.len());
                }
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return false;
            }
        }
    }
    let consumed = input.consumed();
    kept.drain(..consumed);
    assert!(kept.len() <= WAITING_MAX, "{} bytes wait", kept.len());
    true
}
