//! Bytes of AMQP 1.0 from a broker, in any pieces, with and without a login and links before: the connection ends in
//! events or an error, keeps at most one frame that is not copied, and says no fate of a message that was not sent.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use rabbitscope_amqp10::{
    Connection, Content, Event, Login, Mechanism, Receiver, Sections, Sender,
};
use rabbitscope_protocol::{Input, Wire as _};

/// The answers of a login: headers, the mechanism PLAIN, success, limits of 512 bytes and two sessions.
const LOGIN: &[u8] = b"AMQP\x03\x01\x00\x00\x00\x00\x00\x15\x02\x01\x00\x00\x00\x53\x40\xc0\x08\x01\xa3\x05PLAIN\
    \x00\x00\x00\x10\x02\x01\x00\x00\x00\x53\x44\xc0\x03\x01\x50\x00AMQP\x00\x01\x00\x00\
    \x00\x00\x00\x1a\x02\x00\x00\x00\x00\x53\x10\xc0\x0d\x04\xa1\x01b\x40\x70\x00\x00\x02\x00\x60\x00\x01";

/// The answers to a sender in session 0 and a receiver in session 1: begin, attach, and credit for ten messages.
const LINKS: &[u8] = b"\x00\x00\x00\x16\x02\x00\x00\x00\x00\x53\x11\xc0\x09\x04\x60\x00\x00\x43\x52\x64\x52\x64\
    \x00\x00\x00\x1d\x02\x00\x00\x00\x00\x53\x12\xc0\x10\x07\xa1\x01s\x43\x41\x40\x40\x00\x53\x28\x45\x00\x53\x29\x45\
    \x00\x00\x00\x18\x02\x00\x00\x00\x00\x53\x13\xc0\x0b\x07\x43\x52\x64\x43\x52\x64\x43\x43\x52\x0a\
    \x00\x00\x00\x16\x02\x00\x00\x01\x00\x53\x11\xc0\x09\x04\x60\x00\x01\x43\x52\x64\x52\x64\
    \x00\x00\x00\x1d\x02\x00\x00\x01\x00\x53\x12\xc0\x10\x07\xa1\x01r\x43\x42\x40\x40\x00\x53\x28\x45\x00\x53\x29\x45";

/// A frame may wait for its rest.
const WAITING_MAX: usize = 128 * 1024;

/// Messages that the broker may settle.
const MESSAGES: u64 = 10;

fuzz_target!(|data: &[u8]| {
    let [mode, piece, data @ ..] = data else { return };
    let login = Login {
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        name: "fuzz".to_owned(),
        heartbeat_seconds: None,
        sessions: 2,
    };
    let mut connection = Connection::new(login, Instant::now());
    let mut input = Vec::new();
    if mode & 1 == 1 {
        assert!(feed(&mut connection, &mut input, LOGIN), "the login is right");
        connection.attach_sender(0, &Sender { name: "s".to_owned(), ..Sender::default() });
        let receiver = Receiver { name: "r".to_owned(), credit: 4, ..Receiver::default() };
        connection.attach_receiver(1, &receiver);
        assert!(feed(&mut connection, &mut input, LINKS), "the answers are right");
        assert_eq!(connection.room(0), MESSAGES);
        let content = Content::new(0, &Sections::default(), &[0; 12], 512);
        assert_eq!(connection.publish(&content, 10).count(), 10);
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
                assert!(events <= kept.len(), "an event takes at least a byte");
                match event {
                    Event::Settled { lane, first, last, .. } => {
                        assert!(lane == 0 && 1 <= first && first <= last && last <= MESSAGES);
                    }
                    Event::Delivery(delivery) => {
                        assert!(delivery.body().len() <= delivery.bytes.len());
                        let property = delivery.property("rabbitscope-stamp");
                        assert!(property.is_none_or(|value| value.len() < delivery.bytes.len()));
                        connection.processed(delivery.lane, 1);
                    }
                    _ => {}
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
