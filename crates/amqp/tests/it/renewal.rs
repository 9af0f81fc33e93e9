//! New tokens on open connections.

use rabbitscope_amqp::{Connection, Event};
use rabbitscope_protocol::{Input, Renewals, Wire as _};

use crate::connection;

const CONTROL: &[u8] = include_bytes!("recorded/control.bin");

/// Opens a connection to a broker of this version, and gives it a token. Its output has nothing else.
fn renewed(version: [u8; 6]) -> Connection {
    let mut said = CONTROL.to_vec();
    let at = said.windows(6).position(|bytes| bytes == b"3.10.8").unwrap();
    said[at..at + 6].copy_from_slice(&version);
    let mut connection = connection();
    let mut frames = Input::new(&said);
    while connection.next_event(&mut frames).unwrap() != Some(Event::Opened) {}
    let waiting = connection.output().pending().len();
    connection.output().advance(waiting);
    connection.renew("token");
    connection
}

#[test]
fn a_new_token_is_for_brokers_that_take_it() {
    assert!(renewed(*b"3.7.28").output().is_empty());
    let mut connection = renewed(*b"3.10.8");
    let expected = b"\x01\0\0\0\0\0\x19\0\x0a\0\x46\0\0\0\x05token\x0ba new token\xce";
    assert_eq!(connection.output().pending(), expected);
    assert_eq!(connection.take_renewals(), Renewals::default());
    let answer = b"\x01\0\0\0\0\0\x04\0\x0a\0\x47\xce";
    assert_eq!(connection.next_event(&mut Input::new(answer)), Ok(None));
    assert_eq!(connection.take_renewals(), Renewals { taken: 1, refusal: None });
    assert_eq!(connection.take_renewals(), Renewals::default());
}
