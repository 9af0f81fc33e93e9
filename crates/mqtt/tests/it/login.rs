//! The login, its refusals, and the end of a connection.

use std::time::{Duration, Instant};

use rabbitscope_mqtt::{Connection, ConnectionError, Login, Mechanism, Reason, Version};
use rabbitscope_protocol::Wire as _;

use crate::broker::{CONNACK_5, feed, login, opened, written};

fn request(login: Login) -> Vec<u8> {
    written(&mut Connection::new(login, Instant::now()))
}

#[test]
fn the_request_of_each_version_has_these_bytes() {
    let expected = b"\x10\x21\0\x04MQTT\x04\xc2\0\x1e\0\x05probe\0\x07/:guest\0\x05guest";
    assert_eq!(request(login(Version::V3)), expected);
    let expected = b"\x10\x22\0\x04MQTT\x05\xc2\0\x1e\0\0\x05probe\0\x07/:guest\0\x05guest";
    assert_eq!(request(login(Version::V5)), expected);
    let limited = Login { receive_maximum: Some(100), ..login(Version::V5) };
    let expected =
        b"\x10\x25\0\x04MQTT\x05\xc2\0\x1e\x03\x21\0\x64\0\x05probe\0\x07/:guest\0\x05guest";
    assert_eq!(request(limited), expected);
}

#[test]
fn a_certificate_is_no_user() {
    let external = Login { mechanism: Mechanism::External, ..login(Version::V3) };
    assert_eq!(request(external), b"\x10\x11\0\x04MQTT\x04\x02\0\x1e\0\x05probe");
}

#[test]
fn the_password_is_never_shown() {
    let secret = Login { password: "secret".to_owned(), ..login(Version::V3) };
    let connection = Connection::new(secret.clone(), Instant::now());
    assert!(!format!("{secret:?} {connection:?}").contains("secret"));
}

#[test]
fn the_answer_has_the_limits_of_the_broker() {
    let five = opened(Version::V5);
    let limits = (five.room(), five.topic_alias_maximum(), five.maximum_packet_size());
    assert_eq!(limits, (100, 2, 65_536));
    let three = opened(Version::V3);
    let limits = (three.room(), three.topic_alias_maximum(), three.maximum_packet_size());
    assert_eq!(limits, (65_535, 0, 268_435_455));
}

#[test]
fn refused_logins_have_the_same_reasons_in_both_versions() {
    let refused = |version, bytes: &[u8]| {
        let mut connection = Connection::new(login(version), Instant::now());
        feed(&mut connection, bytes, usize::MAX, |_| {}).unwrap_err()
    };
    let check = |version, bytes: &[u8], reason| {
        assert_eq!(refused(version, bytes), ConnectionError::LoginRefused(reason));
    };
    check(Version::V3, b"\x20\x02\0\x04", Reason::CREDENTIALS);
    check(Version::V3, b"\x20\x02\0\x05", Reason::NOT_AUTHORIZED);
    check(Version::V3, b"\x20\x02\0\x01", Reason::VERSION);
    check(Version::V5, b"\x20\x03\0\x86\0", Reason::CREDENTIALS);
    check(Version::V5, b"\x20\x03\0\x84\0", Reason::VERSION);
    let other = refused(Version::V3, b"\x30\x02\0\0").to_string();
    assert!(other.contains("begins with 0x30"), "{other}");
}

#[test]
fn a_disconnect_of_the_broker_has_its_reason() {
    let check = |bytes: &[u8], expected: &str| {
        let error = feed(&mut opened(Version::V5), bytes, usize::MAX, |_| {}).unwrap_err();
        assert_eq!(error.to_string(), format!("the broker closed the connection: {expected}"));
    };
    check(b"\xe0\x00", "success (0x00)");
    check(b"\xe0\x01\x8e", "session taken over (0x8e)");
    check(b"\xe0\x08\x9b\x06\x1f\0\x03bye", "QoS not supported (0x9b), bye");
}

#[test]
fn a_connection_is_closed_when_its_last_packet_is_written() {
    let mut connection = opened(Version::V3);
    connection.close();
    assert!(!connection.is_closed());
    assert_eq!((written(&mut connection), connection.is_closed()), (b"\xe0\0".to_vec(), true));
    feed(&mut connection, b"\x30\x02\0\0", usize::MAX, |event| panic!("{event:?}")).unwrap();
}

#[test]
fn the_servers_keep_alive_takes_precedence() {
    let start = Instant::now();
    let mut connection = Connection::new(login(Version::V5), start);
    assert_eq!(connection.next_tick(), Some(start + Duration::from_secs(15)));
    feed(&mut connection, b"\x20\x06\0\0\x03\x13\0\x0a", usize::MAX, |_| {}).unwrap();
    assert_eq!(connection.next_tick(), Some(start + Duration::from_secs(5)));
    assert!(CONNACK_5.len() > 8, "the other answer has no such property");
}

#[test]
fn a_late_answer_to_a_ping_is_no_end() {
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut connection = opened(Version::V3);
    connection.has_read(start);
    connection.has_written(start);
    connection.tick(after(15)).unwrap();
    assert_eq!(written(&mut connection), b"\xc0\0");
    connection.tick(after(240)).unwrap();
    feed(&mut connection, b"\xd0\0", 1, |event| panic!("{event:?}")).unwrap();
    connection.has_read(after(250));
    connection.tick(after(310)).unwrap();
    connection.tick(after(600)).unwrap();
    let error = connection.tick(after(620)).unwrap_err();
    assert_eq!(error, ConnectionError::PingUnanswered { seconds: 310 });
    assert_eq!(
        error.to_string(),
        "the broker did not answer a ping for 310 s (10 intervals of keep-alive)"
    );
}
