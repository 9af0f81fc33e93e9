//! Logins: slow answers of the broker, and healthy ones beside slow clients.

use super::{
    super::{AnalyzerOptions, reading::Analyzer},
    capture::{BROKER, Talk, method},
};
use crate::{
    report::{Finding, FindingRule, Severity, Side},
    segment::TcpFlags,
};

const SECOND: u64 = 1_000_000_000;

/// Pauses before the steps of a login, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Pauses {
    /// Before `connection.start`.
    start: u64,
    /// Before `connection.start-ok`, which is the client's.
    start_ok: u64,
    /// Before `connection.tune`.
    tune: u64,
    /// Before `connection.open-ok`.
    open_ok: u64,
    /// Before the answer of a channel.
    channel: u64,
}

/// Returns a login of AMQP 0-9-1, and the opening of a channel.
fn login(pauses: Pauses) -> Talk {
    let mut talk = Talk::new();
    talk.send(Side::Client, b"AMQP\0\0\x09\x01");
    talk.wait(pauses.start);
    talk.send(Side::Broker, &method(0, (10, 10), &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    talk.wait(pauses.start_ok);
    talk.send(Side::Client, &method(0, (10, 11), &[0; 11]));
    talk.wait(pauses.tune);
    talk.send(Side::Broker, &method(0, (10, 30), &[7, 255, 0, 2, 0, 0, 0, 0]));
    talk.send(Side::Client, &method(0, (10, 31), &[7, 255, 0, 2, 0, 0, 0, 0]));
    talk.send(Side::Client, &method(0, (10, 40), &[1, b'/', 0, 0]));
    talk.wait(pauses.open_ok);
    talk.send(Side::Broker, &method(0, (10, 41), &[0]));
    talk.send(Side::Client, &method(1, (20, 10), &[0]));
    talk.wait(pauses.channel);
    talk.send(Side::Broker, &method(1, (20, 11), &[0, 0, 0, 0]));
    talk
}

fn slow(talk: &Talk) -> Option<Finding> {
    let options = AnalyzerOptions { ports: vec![BROKER], ..AnalyzerOptions::new("made") };
    let mut analyzer = Analyzer::new(options);
    for packet in &talk.packets {
        analyzer.packet(&packet.packet());
    }
    let findings = analyzer.finish().findings;
    findings.into_iter().find(|finding| finding.rule == FindingRule::SlowLogin)
}

#[track_caller]
fn check_slow(talk: &Talk, evidence: &str) {
    let found = slow(talk).unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.evidence.contains(evidence), "{}", found.evidence);
    assert_eq!(found.connections, ["192.0.2.1:40000 -> 192.0.2.2:5672"]);
}

#[test]
fn the_slow_step_is_named() {
    let of = |pauses| login(pauses);
    check_slow(
        &of(Pauses { start: 5 * SECOND, tune: SECOND, ..Pauses::default() }),
        "no answer to protocol-header for 5 s or more",
    );
    check_slow(
        &of(Pauses { tune: 3 * SECOND / 2, ..Pauses::default() }),
        "no answer to connection.start-ok for 1 s or more",
    );
    check_slow(
        &of(Pauses { open_ok: 2 * SECOND, ..Pauses::default() }),
        "no answer to connection.open for 2 s or more",
    );
}

#[test]
fn slow_clients_and_what_comes_after_the_login_do_not_count() {
    let quick = Pauses { start: SECOND / 2, tune: SECOND / 2, ..Pauses::default() };
    for pauses in [
        Pauses::default(),
        quick,
        Pauses { start_ok: 9 * SECOND, ..Pauses::default() },
        Pauses { channel: 9 * SECOND, ..Pauses::default() },
    ] {
        assert_eq!(slow(&login(pauses)), None);
    }
    // A client that is slow to open its connection gets heartbeats meanwhile.
    let mut slow_to_open = Talk::new();
    slow_to_open.send(Side::Client, b"AMQP\0\0\x09\x01");
    slow_to_open.send(Side::Broker, &method(0, (10, 30), &[7, 255, 0, 2, 0, 0, 0, 1]));
    slow_to_open.send(Side::Client, &method(0, (10, 31), &[7, 255, 0, 2, 0, 0, 0, 1]));
    slow_to_open.wait(3 * SECOND);
    slow_to_open.send(Side::Broker, b"\x08\0\0\0\0\0\0\xce");
    slow_to_open.wait(3 * SECOND);
    slow_to_open.send(Side::Client, &method(0, (10, 40), &[1, b'/', 0, 0]));
    slow_to_open.send(Side::Broker, &method(0, (10, 41), &[0]));
    assert_eq!(slow(&slow_to_open), None);
    // Of a protocol that is not read, nothing is known.
    let mut stomp = Talk::new();
    stomp.send(Side::Client, b"SEND\ndestination:/queue/a\n\nhello\0");
    stomp.wait(9 * SECOND);
    stomp.segment(Side::Broker, TcpFlags::ACK, &[]);
    assert_eq!(slow(&stomp), None);
    // The capture begins after the login.
    let mut late = login(Pauses::default());
    late.packets.drain(..late.packets.len() - 2);
    late.wait(5 * SECOND);
    late.send(Side::Broker, &method(1, (20, 11), &[0, 0, 0, 0]));
    assert_eq!(slow(&late), None);
}

#[test]
fn a_client_that_waits_or_gives_up_counts_and_a_refused_one_does_not() {
    let asked = || {
        let mut talk = Talk::new();
        talk.send(Side::Client, b"AMQP\0\0\x09\x01");
        talk.segment(Side::Broker, TcpFlags::ACK, &[]);
        talk.wait(3 * SECOND);
        talk
    };
    let mut waits = asked();
    waits.segment(Side::Broker, TcpFlags::ACK, &[]);
    check_slow(&waits, "no answer to protocol-header for 3 s or more");
    let mut gave_up = asked();
    for side in [Side::Client, Side::Broker] {
        gave_up.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
    }
    check_slow(&gave_up, "no answer to protocol-header for 3 s or more");
    let mut refused = asked();
    for side in [Side::Broker, Side::Client] {
        refused.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
    }
    assert_eq!(slow(&refused), None);
}

#[test]
fn of_tls_the_answer_to_the_hello_counts() {
    let talk = |before: u64, after: u64| {
        let mut talk = Talk::new();
        talk.send(Side::Client, b"\x16\x03\x01\0\x05\x01\0\0\x01\0");
        talk.wait(before);
        talk.send(Side::Broker, b"\x16\x03\x03\0\x05\x02\0\0\x01\0");
        talk.send(Side::Client, b"\x17\x03\x03\0\x05hello");
        talk.wait(after);
        talk.send(Side::Broker, b"\x17\x03\x03\0\x05hello");
        talk
    };
    check_slow(&talk(2 * SECOND, 0), "no answer to the client's hello of TLS for 2 s or more");
    assert_eq!(slow(&talk(0, 5 * SECOND)), None);
}
