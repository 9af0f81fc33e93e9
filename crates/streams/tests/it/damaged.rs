//! Bytes that no broker sends, and refusals.

use std::time::Instant;

use rabbitscope_protocol::Wire as _;
use rabbitscope_streams::{
    Code, Connection, ConnectionError,
    protocol::commands::{
        CLOSE, DELIVER, OPEN, PEER_PROPERTIES, PUBLISH_CONFIRM, SASL_AUTHENTICATE,
    },
};

use crate::broker::{answer, feed, frame, handshake, login, opened};

fn refused(bytes: &[u8]) -> String {
    let mut connection = opened(4096);
    feed(&mut connection, bytes, usize::MAX, |_| {}).unwrap_err().to_string()
}

#[test]
fn a_refused_login_and_virtual_host_are_told_apart() {
    let with = |old: &[u8], new: &[u8]| {
        let whole = handshake(4096);
        let at = whole.windows(old.len()).position(|window| window == old).unwrap();
        let bytes = [&whole[..at], new].concat();
        let mut connection = Connection::new(login(), Instant::now());
        feed(&mut connection, &bytes, usize::MAX, |_| {}).unwrap_err()
    };
    let login = with(&answer(SASL_AUTHENTICATE, 3, 1, b""), &answer(SASL_AUTHENTICATE, 3, 8, b""));
    assert_eq!(login, ConnectionError::LoginRefused(Code::AUTHENTICATION));
    let open = &handshake(4096);
    let open = &open[open.len() - 41..];
    assert_eq!(open[..2], [0, 0]);
    let vhost = with(open, &answer(OPEN, 4, 12, b""));
    assert_eq!(vhost, ConnectionError::VhostRefused(Code::VHOST));
}

#[test]
fn a_close_of_the_broker_has_its_reason() {
    let close = frame(CLOSE, &[&7_u32.to_be_bytes(), &[0, 13], &[0, 3], b"bye"]);
    let mut connection = opened(4096);
    let error = feed(&mut connection, &close, usize::MAX, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the broker closed the connection: unknown frame (13), bye");
    let agreed = answer(CLOSE, 7, 1, b"");
    assert_eq!(connection.output().pending(), agreed);
}

#[test]
fn wrong_sizes_are_errors() {
    let large = frame(OPEN, &[&vec![0; 5000]]);
    assert!(refused(&large).contains("a frame of 5004 bytes, and 4096"), "{}", refused(&large));
    let list = frame(PUBLISH_CONFIRM, &[&[1], &3_u32.to_be_bytes(), &[0; 8]]);
    assert!(refused(&list).contains("confirms"));
    let no_chunk = frame(DELIVER, &[&[1], &[0; 48]]);
    assert!(refused(&no_chunk).contains("a chunk of messages"));
    assert!(refused(&frame(PEER_PROPERTIES, &[])).contains("not expected"));
}

#[test]
fn any_bytes_end_in_events_or_an_error() {
    let mut random = 7_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(random >> 56).unwrap()
    };
    for key in [1, 2, 3, 4, 8, 9, 0x10, 0x14, 0x16, 0x1a, 0x8009, 0x800f, 0x8016] {
        for length in 0..200 {
            let content: Vec<u8> = (0..length).map(|_| next()).collect();
            let bytes = frame(key, &[&content]);
            // Only a panic would be wrong.
            let _ = feed(&mut opened(4096), &bytes, usize::from(next()) + 1, |_| {});
        }
    }
}
