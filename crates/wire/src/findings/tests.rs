//! Each rule with what shows it, and with what is just not enough.

use super::{judge, not_found};
use crate::{
    packet::Timestamp,
    report::{
        CaptureReport, ConnectionReport, FindingRule, PacketReport, Severity, SocketReport, Source,
        SourceLevel,
    },
};

/// Ten seconds of a connection in which nothing is wrong.
fn connection() -> ConnectionReport {
    let mut connection = ConnectionReport {
        client: "192.0.2.1:40000".to_owned(),
        broker: "192.0.2.2:5672".to_owned(),
        first: Timestamp::from_unix_nanos(0),
        last: Timestamp::from_unix_nanos(10_000_000_000),
        ..ConnectionReport::default()
    };
    for direction in [&mut connection.from_client, &mut connection.from_broker] {
        direction.data_segments = 20_000;
        direction.median_payload = 1_400;
        direction.max_payload = 1_448;
        direction.max_segment_size = Some(1_460);
        direction.limits.busy = 0.8;
    }
    connection.messages.published = 20_000;
    connection.messages.publish_segments = 20_000;
    connection
}

fn report(connection: ConnectionReport) -> PacketReport {
    PacketReport {
        capture: Some(CaptureReport { packets: 40_000, ..CaptureReport::default() }),
        connections: vec![connection],
        ..PacketReport::default()
    }
}

fn found(report: &PacketReport) -> Vec<FindingRule> {
    judge(report).iter().map(|finding| finding.rule).collect()
}

fn check(change: impl Fn(&mut ConnectionReport), expected: &[FindingRule]) {
    let mut connection = connection();
    change(&mut connection);
    assert_eq!(found(&report(connection)), expected);
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    check(|_| (), &[]);
}

#[test]
fn frames_in_segments_of_their_own() {
    let written = |parts: u64, segments: u64| {
        move |it: &mut ConnectionReport| {
            it.messages.frame_by_frame = parts;
            it.messages.publish_segments = segments;
        }
    };
    check(written(10_000, 60_000), &[FindingRule::FrameByFrame]);
    check(written(9_999, 60_000), &[]);
    // Few segments a second.
    check(written(20_000, 9_999), &[]);
}

#[test]
fn small_segments() {
    let payload = |median: u64, size: Option<u16>, largest: u64| {
        move |it: &mut ConnectionReport| {
            it.from_broker.median_payload = median;
            it.from_broker.max_segment_size = size;
            it.from_broker.max_payload = largest;
        }
    };
    check(payload(364, Some(1_460), 1_448), &[FindingRule::SmallPackets]);
    check(payload(365, Some(1_460), 1_448), &[]);
    // A loopback.
    check(payload(1_413, Some(65_483), 65_483), &[FindingRule::SmallPackets]);
    check(payload(1_414, Some(65_483), 65_483), &[]);
    check(payload(1_413, None, 65_483), &[FindingRule::SmallPackets]);
    check(payload(365, None, 1_448), &[]);
}

#[test]
fn acknowledgements_one_by_one() {
    let acks = |acks: u64, multiple: u64, segments: u64| {
        move |it: &mut ConnectionReport| {
            it.messages.acks = acks;
            it.messages.multiple_acks = multiple;
            it.messages.ack_segments = segments;
        }
    };
    check(acks(1_000, 100, 900), &[FindingRule::AckPerMessage]);
    check(acks(1_000, 101, 900), &[]);
    check(acks(1_000, 0, 500), &[]);
    check(acks(99, 0, 99), &[]);
}

#[test]
fn waits_for_delayed_acknowledgements() {
    let stalls = |count: u64| {
        move |it: &mut ConnectionReport| {
            it.from_client.delayed_ack_stalls = count;
            it.from_client.delayed_ack_nanos = 44_000_000 * count;
            it.from_client.delayed_ack_packets = vec![7, 8, 9];
        }
    };
    check(stalls(3), &[FindingRule::DelayedAcknowledgement]);
    check(stalls(2), &[]);
    let mut connection = connection();
    stalls(5)(&mut connection);
    let finding = judge(&report(connection)).remove(0);
    assert_eq!(finding.packets, [7, 8, 9]);
    assert!(finding.evidence.contains("44.0 ms each"), "{}", finding.evidence);
}

#[test]
fn windows_of_nothing() {
    let longest = |millis: u64| {
        move |it: &mut ConnectionReport| {
            it.from_client.longest_zero_window_nanos = millis * 1_000_000;
            it.from_client.zero_window_nanos = millis * 1_000_000;
        }
    };
    check(longest(199), &[]);
    check(longest(200), &[FindingRule::ZeroWindow]);
    for (millis, severity) in [(200, Severity::Warning), (15_000, Severity::Critical)] {
        let mut connection = connection();
        longest(millis)(&mut connection);
        let finding = judge(&report(connection)).remove(0);
        assert_eq!(finding.severity, severity);
        assert!(finding.evidence.starts_with("the client had no room"), "{}", finding.evidence);
    }
}

#[test]
fn what_limits_the_sender() {
    check(|it| it.from_broker.limits.receiver_window = 0.4, &[FindingRule::ReceiverLimited]);
    check(|it| it.from_broker.limits.receiver_window = 0.39, &[]);
    check(|it| it.from_broker.retransmitted_segments = 20, &[FindingRule::NetworkLimited]);
    check(|it| it.from_broker.retransmitted_segments = 19, &[]);
    let one_by_one = |busy: f64| {
        move |it: &mut ConnectionReport| {
            it.from_client.limits.busy = busy;
            it.messages.confirms = 20_000;
            it.messages.max_unconfirmed = 1;
        }
    };
    check(one_by_one(0.49), &[FindingRule::ApplicationLimited]);
    check(one_by_one(0.5), &[]);
}

#[test]
fn the_kernel_knows_better_than_the_capture() {
    let socket = |receiver: f64, buffer: f64| SocketReport {
        local: "192.0.2.2:5672".to_owned(),
        remote: "192.0.2.1:40000".to_owned(),
        of_broker: true,
        busy: Some(0.5),
        receiver_limited: Some(receiver),
        send_buffer_limited: Some(buffer),
        ..SocketReport::default()
    };
    let check = |receiver: f64, buffer: f64, expected: &[FindingRule]| {
        let mut connection = connection();
        // By the capture it would be.
        connection.from_broker.limits.receiver_window = 0.7;
        let report = PacketReport { sockets: vec![socket(receiver, buffer)], ..report(connection) };
        assert_eq!(found(&report), expected);
        assert!(judge(&report).iter().all(|it| it.source == SourceLevel::Sockets));
    };
    check(0.0, 0.0, &[]);
    check(0.25, 0.0, &[FindingRule::ReceiverLimited]);
    check(0.24, 0.05, &[FindingRule::SendBufferLimited]);
    // Without a capture as well.
    let report = PacketReport { sockets: vec![socket(0.3, 0.0)], ..PacketReport::default() };
    assert_eq!(found(&report), [FindingRule::ReceiverLimited]);
}

#[test]
fn a_capture_that_lost_packets_says_nothing_about_the_network() {
    let mut connection = connection();
    connection.from_broker.retransmitted_segments = 2_000;
    let mut report = report(connection);
    if let Some(capture) = &mut report.capture {
        capture.dropped = Some(10);
    }
    assert_eq!(found(&report), [FindingRule::CaptureLoss]);
}

#[test]
fn what_many_show_is_one_finding() {
    let slow = |number: u32| {
        let mut connection = connection();
        connection.client = format!("192.0.2.1:{number}");
        connection.from_client.longest_zero_window_nanos = u64::from(number) * 1_000_000;
        connection.from_client.zero_window_nanos = u64::from(number) * 1_000_000;
        connection
    };
    let connections = (250..300).map(slow).collect();
    let report = PacketReport { connections, ..PacketReport::default() };
    let findings = judge(&report);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].connections_in_all, findings[0].connections.len()), (50, 10));
    assert!(findings[0].connections[0].starts_with("192.0.2.1:299 "), "the worst is first");
}

#[test]
fn rules_without_their_source_are_not_checked() {
    let check = |present: SourceLevel, rule: FindingRule, expected: Option<bool>| {
        let source = |level| Source { level, present: level == present, note: String::new() };
        let sources = vec![source(SourceLevel::Sockets), source(SourceLevel::Packets)];
        let mut connection = connection();
        connection.from_client.longest_zero_window_nanos = 200_000_000;
        let mut report = PacketReport { sources, ..report(connection) };
        report.findings = judge(&report);
        let found = not_found(&report).find(|(name, _)| *name == rule);
        assert_eq!(found.map(|(_, is_checked)| is_checked), expected, "{rule:?} by {present:?}");
    };
    check(SourceLevel::Packets, FindingRule::ZeroWindow, None);
    check(SourceLevel::Packets, FindingRule::SmallPackets, Some(true));
    check(SourceLevel::Packets, FindingRule::ReceiverLimited, Some(true));
    check(SourceLevel::Packets, FindingRule::SendBufferLimited, Some(false));
    check(SourceLevel::Sockets, FindingRule::SmallPackets, Some(false));
    check(SourceLevel::Sockets, FindingRule::ReceiverLimited, Some(true));
    check(SourceLevel::Sockets, FindingRule::SendBufferLimited, Some(true));
    check(SourceLevel::Writes, FindingRule::SendBufferLimited, Some(false));
}
