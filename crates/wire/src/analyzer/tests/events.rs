//! Problems on connections, packet by packet, and connections without problems.

use super::{
    super::{AnalyzerOptions, reading::Analyzer},
    capture::{BROKER, Made, Talk, ack, content, method, publish},
};
use crate::{
    protocols::peer_of,
    report::{FindingRule, PacketReport, Severity, Side},
    segment::TcpFlags,
};

const SECOND: u64 = 1_000_000_000;

fn report(talk: &Talk) -> PacketReport {
    let options = AnalyzerOptions { ports: vec![BROKER], ..AnalyzerOptions::new("made") };
    let mut analyzer = Analyzer::new(options);
    for packet in &talk.packets {
        analyzer.packet(&packet.packet());
    }
    analyzer.finish()
}

/// Returns a connection after the login, with this many seconds between heartbeats, and with a channel.
fn logged_in(heartbeat: u16) -> Talk {
    let mut talk = Talk::new();
    talk.send(Side::Client, b"AMQP\0\0\x09\x01");
    talk.send(Side::Broker, &method(0, (10, 10), &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    let tune_ok = [&[7, 255, 0, 2, 0, 0][..], &heartbeat.to_be_bytes()].concat();
    talk.send(Side::Client, &method(0, (10, 31), &tune_ok));
    talk.send(Side::Broker, &method(0, (10, 41), &[0]));
    talk.send(Side::Client, &method(1, (20, 10), &[0]));
    talk.send(Side::Broker, &method(1, (20, 11), &[0, 0, 0, 0]));
    talk
}

fn close(talk: &mut Talk) {
    talk.send(Side::Client, &method(0, (10, 50), &[0, 200, 0, 0, 0, 0, 0]));
    talk.send(Side::Broker, &method(0, (10, 51), &[]));
    for side in [Side::Client, Side::Broker] {
        talk.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
    }
}

fn told(code: u16, text: &str, rest: &[u8]) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    [&code.to_be_bytes()[..], &[length], text.as_bytes(), rest].concat()
}

/// Checks the first finding, and a part of its evidence.
#[track_caller]
fn check(name: &str, plant: impl Fn(&mut Talk), expected: FindingRule, evidence: &str) {
    let mut talk = logged_in(0);
    plant(&mut talk);
    let report = report(&talk);
    let first = report.findings.first().unwrap_or_else(|| panic!("{name}: {report:#?}"));
    assert_eq!(first.rule, expected, "{name}: {:#?}", report.findings);
    assert!(first.evidence.contains(evidence), "{name}: {}", first.evidence);
    assert_eq!(first.connections, ["192.0.2.1:40000 -> 192.0.2.2:5672"], "{name}");
}

#[test]
fn a_connection_that_is_closed_as_it_should_be_has_no_finding() {
    let mut talk = logged_in(10);
    for _ in 0..3 {
        talk.send(Side::Client, &publish(1, 40));
        talk.wait(SECOND);
        talk.send(Side::Broker, &ack(1, 1, false));
    }
    // Some clients close with 0.
    talk.send(Side::Client, &method(1, (20, 40), &[0, 0, 0, 0, 0, 0, 0]));
    talk.send(Side::Broker, &method(1, (20, 41), &[]));
    talk.send(Side::Client, &method(0, (10, 50), &[0, 0, 0, 0, 0, 0, 0]));
    talk.send(Side::Broker, &method(0, (10, 51), &[]));
    close(&mut talk);
    let report = report(&talk);
    assert_eq!((report.findings, report.events), (vec![], vec![]));
}

#[test]
fn closes_have_their_code_and_text() {
    let text = "NOT_FOUND - no queue 'x' in vhost '/'";
    let channel = |talk: &mut Talk| {
        talk.send(Side::Broker, &method(1, (20, 40), &told(404, text, &[0, 50, 0, 10])));
        talk.send(Side::Client, &method(1, (20, 41), &[]));
        close(talk);
    };
    check("404", channel, FindingRule::ChannelClosed, "the broker: 404 NOT_FOUND - no queue 'x'");
    let connection = |talk: &mut Talk| {
        let text = "CONNECTION_FORCED - shutdown";
        talk.send(Side::Broker, &method(0, (10, 50), &told(320, text, &[0, 0, 0, 0])));
        talk.send(Side::Client, &method(0, (10, 51), &[]));
    };
    check("320", connection, FindingRule::ConnectionClosed, "320 CONNECTION_FORCED - shutdown");
}

#[test]
fn asking_for_what_is_not_there_is_no_fault() {
    let check = |text: &str, cause: [u8; 4], severity: Severity| {
        let mut talk = logged_in(0);
        talk.send(Side::Broker, &method(1, (20, 40), &told(404, text, &cause)));
        talk.send(Side::Client, &method(1, (20, 41), &[]));
        close(&mut talk);
        let found = report(&talk).findings;
        assert_eq!((found[0].rule, found[0].severity), (FindingRule::ChannelClosed, severity));
    };
    let text = "NOT_FOUND - no queue 'x' in vhost '/'";
    check(text, [0, 50, 0, 10], Severity::Note);
    check("NOT_FOUND - no exchange 'x' in vhost '/'", [0, 40, 0, 10], Severity::Note);
    check(text, [0, 60, 0, 20], Severity::Critical);
    let text = "NOT_FOUND - home node 'b' of durable queue 'x' in vhost '/' is down";
    check(text, [0, 50, 0, 10], Severity::Critical);
}

#[test]
fn what_the_broker_refuses_is_named() {
    let returned = |talk: &mut Talk| {
        talk.send(Side::Client, &publish(1, 40));
        let rest = b"\0\x01q";
        talk.send(Side::Broker, &method(1, (60, 50), &told(312, "NO_ROUTE", rest)));
        talk.send(Side::Broker, &content(1, 40));
        close(talk);
    };
    check("return", returned, FindingRule::MessageReturned, "312 NO_ROUTE");
    let refused = |talk: &mut Talk| {
        talk.send(Side::Broker, &method(1, (60, 120), &[0, 0, 0, 0, 0, 0, 0, 1, 0]));
        close(talk);
    };
    check("nack", refused, FindingRule::PublishRefused, "basic.nack");
    let blocked = |talk: &mut Talk| {
        talk.send(Side::Broker, &method(0, (10, 60), b"\x0alow memory"));
        close(talk);
    };
    check("blocked", blocked, FindingRule::ConnectionBlocked, "low memory");
    let cancelled = |talk: &mut Talk| {
        talk.send(Side::Broker, &method(1, (60, 30), b"\x03tag\x01"));
        close(talk);
    };
    check("cancel", cancelled, FindingRule::ConsumerCancelled, "tag");
}

#[test]
fn ends_without_a_word_say_whose_they_are() {
    let reset = |side| {
        move |talk: &mut Talk| {
            talk.segment(side, TcpFlags::RST, &[]);
        }
    };
    check("client", reset(Side::Client), FindingRule::ConnectionReset, "the client: without");
    check("broker", reset(Side::Broker), FindingRule::ConnectionReset, "the broker: without");
    let idle = |talk: &mut Talk| {
        talk.wait(350 * SECOND);
        talk.send(Side::Client, &publish(1, 40));
        talk.segment(Side::Broker, TcpFlags::RST, &[]);
    };
    check("idle", idle, FindingRule::IdleReset, "the broker: after 5 min 50 s without a packet");
    let gone = |talk: &mut Talk| {
        talk.segment(Side::Broker, TcpFlags::FIN | TcpFlags::ACK, &[]);
        talk.segment(Side::Client, TcpFlags::FIN | TcpFlags::ACK, &[]);
    };
    check("fin", gone, FindingRule::ClosedWithout, "the broker: without connection.close");
    let mut talk = Talk::new();
    talk.send(Side::Client, b"AMQP\0\0\x09\x01");
    talk.send(Side::Broker, &method(0, (10, 10), &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    talk.segment(Side::Broker, TcpFlags::RST, &[]);
    assert!(report(&talk).findings[0].evidence.contains("during the login"));
    // Data that is left after an end by both sides.
    let mut talk = logged_in(0);
    close(&mut talk);
    talk.segment(Side::Client, TcpFlags::RST, &[]);
    assert_eq!(report(&talk).findings, []);
}

#[test]
fn a_connection_that_was_there_before_the_capture_is_logged_in() {
    for flags in [TcpFlags::RST, TcpFlags::FIN | TcpFlags::ACK] {
        let mut talk = logged_in(0);
        talk.packets.clear();
        for _ in 0..4 {
            talk.send(Side::Client, &publish(1, 40));
            talk.send(Side::Broker, &ack(1, 1, false));
        }
        talk.segment(Side::Broker, flags, &[]);
        talk.segment(Side::Client, flags, &[]);
        let found = report(&talk).findings;
        assert!(found[0].evidence.contains("without"), "{found:#?}");
    }
}

#[test]
fn heartbeats_that_are_missing_are_those_of_the_silent_side() {
    let mut talk = logged_in(5);
    for _ in 0..4 {
        talk.wait(4 * SECOND);
        talk.send(Side::Broker, &[8, 0, 0, 0, 0, 0, 0, 0xce]);
    }
    let report = report(&talk);
    let first = &report.findings[0];
    assert_eq!((first.rule, first.severity), (FindingRule::MissedHeartbeats, Severity::Critical));
    assert!(first.evidence.starts_with("the client: nothing was sent for 16.0 s"), "{first:?}");
}

#[test]
fn protocols_that_do_not_fit_are_named() {
    let check = |client: &[u8], broker: &[u8], evidence: &str| {
        let mut talk = Talk::new();
        talk.send(Side::Client, client);
        talk.send(Side::Broker, broker);
        for side in [Side::Broker, Side::Client] {
            talk.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
        }
        let report = report(&talk);
        assert_eq!(report.findings[0].rule, FindingRule::WrongProtocol, "{:#?}", report.findings);
        assert!(report.findings[0].evidence.contains(evidence), "{:#?}", report.findings);
    };
    let hello = b"\x16\x03\x01\0\x05\x01\0\0\x01\0";
    let header = b"AMQP\0\0\x09\x01";
    check(hello, header, "began with TLS");
    check(header, b"\x15\x03\x03\0\x02\x02\x0a", "began without TLS");
    check(b"AMQP\0\x01\0\0", header, "the protocol header that it speaks");
    check(b"GET / HTTP/1.1\r\n\r\n", header, "the protocol header that it speaks");
}

#[test]
fn a_port_on_which_nothing_listens() {
    let mut talk = Talk::default();
    talk.segment(Side::Client, TcpFlags::SYN, &[]);
    talk.segment(Side::Broker, TcpFlags::RST | TcpFlags::ACK, &[]);
    let found = report(&talk).findings;
    assert_eq!(found[0].rule, FindingRule::ConnectionRefused);
    let mut talk = Talk::default();
    let syn = talk.segment(Side::Client, TcpFlags::SYN, &[]);
    let mut again = talk.packets[usize::try_from(syn).unwrap() - 1].clone();
    (again.nanos, again.number) = (again.nanos + SECOND, 2);
    talk.packets.push(again);
    let found = report(&talk).findings;
    assert!(found[0].evidence.contains("no answer to 2 SYNs"), "{found:#?}");
}

/// Text that the broker did not choose stays text.
#[test]
fn foreign_bytes_become_text() {
    let mut talk = logged_in(0);
    let arguments = [&[1, 148, 4][..], b"\xff\x1b[m", &[0, 0, 0, 0]].concat();
    talk.send(Side::Broker, &method(1, (20, 40), &arguments));
    let report = report(&talk);
    assert_eq!(report.events[0].text, "\u{fffd}\u{1b}[m");
}

/// Data that tail loss probes repeat is not lost.
#[test]
fn what_is_sent_again_needlessly_is_not_lost() {
    let losses = |acknowledge: bool| {
        let mut talk = logged_in(0);
        for _ in 0..200 {
            let place = talk.packets.len();
            talk.send(Side::Client, &publish(1, 400));
            let sent = talk.packets[place].clone();
            if acknowledge {
                talk.segment(Side::Broker, TcpFlags::ACK, &[]);
            }
            talk.wait(10_000_000);
            talk.packets.push(Made {
                number: talk.packets.len() as u64 + 1,
                nanos: talk.nanos,
                ..sent
            });
            talk.segment(Side::Broker, TcpFlags::ACK, &[]);
        }
        let report = report(&talk);
        assert_eq!(report.totals.retransmitted_segments, 200);
        let is_lossy =
            report.findings.iter().any(|finding| finding.rule == FindingRule::NetworkLimited);
        (report.connections[0].from_client.missing_segments, is_lossy)
    };
    assert_eq!(losses(true), (0, false));
    assert_eq!(losses(false), (200, true));
}

/// Messages within TLS are invisible. A connection without visible messages is not one with few messages.
#[test]
fn of_what_cannot_be_read_nothing_is_said() {
    let mut talk = Talk::new();
    talk.send(Side::Client, b"\x16\x03\x01\0\x05\x01\0\0\x01\0");
    talk.send(Side::Broker, b"\x16\x03\x03\0\x05\x02\0\0\x01\0");
    for side in [Side::Client, Side::Broker] {
        talk.send(side, b"\x17\x03\x03\0\x05hello");
    }
    for side in [Side::Client, Side::Broker] {
        talk.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
    }
    let report = report(&talk);
    assert_eq!((&report.findings[..], &report.events[..]), (&[][..], &[][..]));
    for rule in [FindingRule::ChannelClosed, FindingRule::MissedHeartbeats] {
        let not_judged = report.not_judged.iter().flatten().find(|skipped| skipped.rule == rule);
        assert_eq!(not_judged.map(|skipped| &skipped.reason[..]), Some("TLS hides the frames"));
    }
}

/// MQTT 3 has no packet in which the broker could state the reason.
#[test]
fn ends_of_mqtt_without_disconnect_are_named() {
    let ended_by = |side: Side| {
        let mut talk = Talk::new();
        talk.send(Side::Client, b"\x10\x0d\0\x04MQTT\x04\x02\0\x3c\0\x01a");
        talk.send(Side::Broker, &[0x20, 2, 0, 0]);
        for side in [side, peer_of(side)] {
            talk.segment(side, TcpFlags::FIN | TcpFlags::ACK, &[]);
        }
        report(&talk).findings
    };
    for (side, severity) in [(Side::Broker, Severity::Critical), (Side::Client, Severity::Note)] {
        let found = ended_by(side);
        assert_eq!((found[0].rule, found[0].severity), (FindingRule::ClosedWithout, severity));
        assert!(found[0].evidence.contains("without DISCONNECT"), "{found:#?}");
    }
}

/// A kernel answers a reset whose number it does not expect. This answer is no sign of life before the reset.
#[test]
fn an_end_that_is_gone_is_named_whatever_answers_the_reset() {
    let mut talk = logged_in(0);
    let sent = talk.packets.len();
    talk.send(Side::Client, &publish(1, 40));
    for _ in 0..4 {
        talk.wait(SECOND);
        let again = talk.packets[sent].clone();
        let number = talk.packets.len() as u64 + 1;
        talk.packets.push(Made { number, nanos: talk.nanos, ..again });
    }
    talk.segment(Side::Client, TcpFlags::RST | TcpFlags::ACK, &[]);
    talk.segment(Side::Broker, TcpFlags::ACK, &[]);
    let found = report(&talk).findings;
    assert_eq!(found[0].rule, FindingRule::HalfOpen, "{found:#?}");
    assert!(found[0].evidence.contains("the broker: no answer to 4 segments"), "{found:#?}");
}
