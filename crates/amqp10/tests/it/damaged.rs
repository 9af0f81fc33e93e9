//! Bytes that no broker sends, and refusals.

use std::time::{Duration, Instant};

use rabbitscope_amqp10::{
    Addressing, Connection, ConnectionError, Login, Mechanism,
    protocol::codes::{CLOSE, ERROR},
};
use rabbitscope_protocol::Wire as _;

use crate::broker::{
    NULL, TRUE, described, events, feed, frame, handshake, login, opened, output, performative,
    receiving, sending, symbol, text, transfer, uint,
};

fn refused(connection: &mut Connection, bytes: &[u8]) -> String {
    feed(connection, bytes, usize::MAX, |_, _| {}).unwrap_err().to_string()
}

#[test]
fn a_login_is_refused_with_its_reason() {
    let mut connection = Connection::new(login(), Instant::now());
    let other = refused(&mut connection, b"AMQP\x00\x00\x09\x01");
    assert_eq!(other, "the answer to AMQP 1.0 is AMQP\\x00\\x00\\t\\x01");
    let bytes = handshake(512);
    let outcome = frame(1, 0, &described(0x44, &[b"\x50\x00"]));
    let at = bytes.windows(outcome.len()).position(|window| window == outcome).unwrap();
    let bytes = [&bytes[..at], &frame(1, 0, &described(0x44, &[b"\x50\x01"]))].concat();
    let mut connection = Connection::new(login(), Instant::now());
    let error = feed(&mut connection, &bytes, usize::MAX, |_, _| {}).unwrap_err();
    assert_eq!(error, ConnectionError::LoginRefused { code: 1 });
    let external = Login { mechanism: Mechanism::External, ..login() };
    let error = refused(&mut Connection::new(external, Instant::now()), &bytes);
    assert_eq!(error, "the broker offers the logins PLAIN, ANONYMOUS, not EXTERNAL");
}

#[test]
fn a_login_says_who_and_where() {
    let mut connection = Connection::new(login(), Instant::now());
    assert_eq!(output(&mut connection), b"AMQP\x03\x01\x00\x00");
    events(&mut connection, &handshake(1000));
    let said = output(&mut connection);
    let init = b"\0\0\0\x23\x02\x01\0\0\0\x53\x41\xc0\x16\x02\xa3\x05PLAIN\xa0\x0c\0guest\0guest";
    assert_eq!(said[..init.len()], *init.as_slice());
    let rest = &said[init.len()..];
    assert_eq!(rest[..8], *b"AMQP\x00\x01\x00\x00");
    let open = b"\xa1\x04test\xa1\x07vhost:/\x70\x00\x02\x00\x00\x60\x00\x04\x70\x00\x00\xea\x60";
    assert!(rest.windows(open.len()).any(|window| window == open), "{rest:x?}");
    assert_eq!((connection.sent_frame_max(), connection.sessions_max()), (1000, 5));
    assert_eq!(connection.addressing(), Addressing::V2);
}

#[test]
fn a_close_of_the_broker_has_its_reason() {
    let error = described(ERROR, &[&symbol("amqp:not-allowed"), &text("no vhost")]);
    let mut connection = opened(512);
    let refused = refused(&mut connection, &performative(0, CLOSE, &[&error]));
    assert_eq!(refused, "the broker closed the connection: amqp:not-allowed, no vhost");
    assert_eq!(output(&mut connection), b"\0\0\0\x0c\x02\0\0\0\0\x53\x18\x45");
}

#[test]
fn heartbeats_go_both_ways_unless_they_are_off() {
    let check = |heartbeat_seconds, beat: u64, missed: Option<u64>| {
        let start = Instant::now();
        let mut connection = Connection::new(Login { heartbeat_seconds, ..login() }, start);
        events(&mut connection, &handshake(512));
        output(&mut connection);
        connection.has_read(start);
        connection.has_written(start);
        assert_eq!(connection.next_tick(), Some(start + Duration::from_secs(beat)));
        connection.tick(start + Duration::from_secs(beat)).unwrap();
        assert_eq!(output(&mut connection), b"\0\0\0\x08\x02\0\0\0");
        let late = connection.tick(start + Duration::from_secs(3600));
        let expected = missed.map(|seconds| ConnectionError::HeartbeatMissed { seconds });
        assert_eq!(late.err(), expected);
    };
    check(Some(10), 5, Some(20));
    check(None, 30, Some(120));
    check(Some(0), 30, None);
}

#[test]
fn wrong_frames_are_errors() {
    let mut connection = opened(512);
    let large = (131_073_u32.to_be_bytes(), [2, 0, 0, 0]);
    let error = refused(&mut connection, &[&large.0[..], &large.1].concat());
    assert!(error.contains("a frame of 131073 bytes, and 131072"), "{error}");
    assert!(refused(&mut opened(512), b"\0\0\0\x07\x02\0\0\0").contains("a frame"));
    assert!(refused(&mut opened(512), b"\0\0\0\x08\x01\0\0\0").contains("a frame"));
    let transfer = transfer(Some(0), false, b"");
    assert!(refused(&mut opened(512), &transfer).contains("0x14, which was not expected"));
    assert!(refused(&mut sending(9, 9), &transfer).contains("0x14, which was not expected"));
    let disposition = performative(3, 0x15, &[TRUE, &uint(3), NULL, TRUE]);
    let unknown = refused(&mut sending(9, 9), &disposition);
    assert!(unknown.contains("settled delivery 3 of session 2, which was not sent"), "{unknown}");
    let begin = performative(3, 0x11, &[&uint(7), &uint(0), &uint(9), &uint(9)]);
    assert!(refused(&mut opened(512), &begin).contains("0x11"));
}

#[test]
fn any_bytes_end_in_events_or_an_error() {
    let mut random = 7_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(random >> 56).unwrap()
    };
    for code in [0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x40] {
        for length in 0..200 {
            let content: Vec<u8> = (0..length).map(|_| next() & 0x57).collect();
            let count = next() & 0xf;
            let size = u8::try_from(length + 1).unwrap();
            let body = [&[0x00, 0x53, code, 0xc0, size, count][..], &content].concat();
            for mut connection in [sending(9, 9), receiving(0)] {
                let bytes = frame(0, 3, &body);
                // Only a panic would be wrong.
                let _ = feed(&mut connection, &bytes, usize::from(next()) + 1, |_, _| {});
            }
        }
    }
}

#[test]
fn a_login_in_any_pieces_ends_in_the_same_way() {
    for piece in 1..60 {
        let mut connection = Connection::new(login(), Instant::now());
        let mut opened = 0;
        feed(&mut connection, &handshake(512), piece, |_, _| opened += 1).unwrap();
        assert_eq!(opened, 1, "pieces of {piece} bytes");
    }
}
