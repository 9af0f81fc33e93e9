//! Each rule with evidence for it, and with evidence that is just too little.

use super::{judge, not_found};
use crate::{
    packet::Timestamp,
    report::{
        CaptureReport, ConnectionEvent, ConnectionReport, EventKind, Finding, FindingRule,
        FrameCount, PacketReport, Severity, Side, SocketReport, Source, SourceLevel, Totals,
    },
};

/// Returns ten seconds of a connection without problems.
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
        direction.segments = 30_000;
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
        frames: vec![FrameCount { kind: "connection.tune-ok".to_owned(), ..FrameCount::default() }],
        totals: Totals { segments: 40_000, duration_nanos: 10_000_000_000, ..Totals::default() },
        ..PacketReport::default()
    }
}

fn judged(report: &PacketReport) -> Vec<Finding> {
    let mut report = report.clone();
    judge(&mut report);
    report.findings
}

/// Returns the reason why a rule is not judged.
fn why_not(report: &PacketReport, rule: FindingRule) -> Option<String> {
    let mut report = report.clone();
    judge(&mut report);
    report.not_judged?.into_iter().find(|one| one.rule == rule).map(|one| one.reason)
}

fn found(report: &PacketReport) -> Vec<FindingRule> {
    judged(report).iter().map(|finding| finding.rule).collect()
}

/// Returns the findings about the connection without problems after this change of it.
fn judged_with(change: impl Fn(&mut ConnectionReport)) -> Vec<Finding> {
    let mut connection = connection();
    change(&mut connection);
    judged(&report(connection))
}

fn check(change: impl Fn(&mut ConnectionReport), expected: &[FindingRule]) {
    let rules: Vec<_> = judged_with(change).iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, expected);
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    check(|_| (), &[]);
}

#[test]
fn frames_in_segments_of_their_own() {
    let written = |parts: u64, segments: u64| {
        move |row: &mut ConnectionReport| {
            row.messages.frame_by_frame = parts;
            row.messages.publish_segments = segments;
        }
    };
    check(written(10_000, 60_000), &[FindingRule::FrameByFrame]);
    check(written(9_999, 60_000), &[]);
    // Few segments per second.
    check(written(20_000, 9_999), &[]);
    let severity = |segments: u64| judged_with(written(20_000, segments))[0].severity;
    assert_eq!((severity(49_999), severity(50_000)), (Severity::Note, Severity::Warning));
}

#[test]
fn small_segments() {
    let payload = |median: u64, size: Option<u16>, largest: u64| {
        move |row: &mut ConnectionReport| {
            row.from_broker.median_payload = median;
            row.from_broker.max_segment_size = size;
            row.from_broker.max_payload = largest;
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
        move |row: &mut ConnectionReport| {
            row.messages.acks = acks;
            row.messages.multiple_acks = multiple;
            row.messages.ack_segments = segments;
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
        move |row: &mut ConnectionReport| {
            row.from_client.delayed_ack_stalls = count;
            row.from_client.delayed_ack_nanos = 44_000_000 * count;
            row.from_client.delayed_ack_packets = vec![7, 8, 9];
        }
    };
    check(stalls(3), &[FindingRule::DelayedAcknowledgement]);
    check(stalls(2), &[]);
    let finding = judged_with(stalls(5)).remove(0);
    assert_eq!(judged_with(stalls(12))[0].severity, Severity::Warning);
    assert_eq!((finding.severity, &finding.packets[..]), (Severity::Note, &[7, 8, 9][..]));
    assert!(finding.evidence.contains("44.0 ms each"), "{}", finding.evidence);
}

#[test]
fn windows_of_nothing() {
    let longest = |millis: u64| {
        move |row: &mut ConnectionReport| {
            row.from_client.longest_zero_window_nanos = millis * 1_000_000;
            row.from_client.zero_window_nanos = millis * 1_000_000;
        }
    };
    check(longest(199), &[]);
    check(longest(200), &[FindingRule::ZeroWindow]);
    let severities = [
        (200, Severity::Note),
        (999, Severity::Note),
        (1_000, Severity::Warning),
        (15_000, Severity::Critical),
    ];
    for (millis, severity) in severities {
        let finding = judged_with(longest(millis)).remove(0);
        assert_eq!(finding.severity, severity);
        assert!(finding.evidence.starts_with("the client had no room"), "{}", finding.evidence);
    }
}

#[test]
fn what_limits_the_sender() {
    check(|row| row.from_broker.limits.receiver_window = 0.4, &[FindingRule::ReceiverLimited]);
    check(|row| row.from_broker.limits.receiver_window = 0.39, &[]);
    check(|row| row.from_broker.missing_segments = 20, &[FindingRule::NetworkLimited]);
    check(|row| row.from_broker.missing_segments = 19, &[]);
    let thrown_away = |windows: u64| {
        move |row: &mut ConnectionReport| {
            row.from_broker.missing_segments = 30;
            row.from_client.zero_windows = windows;
        }
    };
    check(thrown_away(10), &[FindingRule::NetworkLimited]);
    check(thrown_away(11), &[]);
    let one_by_one = |busy: f64, most: u64| {
        move |row: &mut ConnectionReport| {
            row.from_client.limits.busy = busy;
            (row.messages.confirms, row.messages.turns) = (20_000, row.messages.published);
            row.messages.max_unconfirmed = most;
        }
    };
    check(one_by_one(0.49, 1), &[FindingRule::ApplicationLimited]);
    check(one_by_one(0.5, 1), &[]);
    check(one_by_one(0.49, 0), &[FindingRule::ApplicationLimited]);
}

fn socket(receiver: f64, buffer: f64) -> SocketReport {
    SocketReport {
        local: "192.0.2.2:5672".to_owned(),
        remote: "192.0.2.1:40000".to_owned(),
        of_broker: true,
        busy: Some(0.5),
        observed_nanos: 10_000_000_000,
        data_segments_sent: Some(1_000),
        receiver_limited: Some(receiver),
        send_buffer_limited: Some(buffer),
        ..SocketReport::default()
    }
}

#[test]
fn a_full_window_is_a_warning_only_where_it_lasts() {
    for (millis, severity) in [(190, Severity::Note), (1_000, Severity::Warning)] {
        let mut connection = connection();
        connection.from_client.longest_zero_window_nanos = millis * 1_000_000;
        connection.from_broker.limits.receiver_window = 0.7;
        let of_capture = report(connection);
        let of_socket = PacketReport { sockets: vec![socket(0.4, 0.0)], ..of_capture.clone() };
        for report in [of_capture, of_socket] {
            let findings = judged(&report);
            let found = findings.iter().find(|one| one.rule == FindingRule::ReceiverLimited);
            assert_eq!(found.map(|one| one.severity), Some(severity), "{findings:#?}");
        }
    }
}

#[test]
fn the_kernel_knows_better_than_the_capture() {
    let check = |receiver: f64, buffer: f64, expected: &[FindingRule]| {
        let mut connection = connection();
        // The capture alone would show a limit.
        connection.from_broker.limits.receiver_window = 0.7;
        let report = PacketReport { sockets: vec![socket(receiver, buffer)], ..report(connection) };
        assert_eq!(found(&report), expected);
        assert!(judged(&report).iter().all(|finding| finding.source == SourceLevel::Sockets));
    };
    check(0.0, 0.0, &[]);
    check(0.25, 0.0, &[FindingRule::ReceiverLimited]);
    check(0.24, 0.05, &[FindingRule::SendBufferLimited]);
    // The kernel's figures suffice without a capture.
    let report = PacketReport { sockets: vec![socket(0.3, 0.0)], ..PacketReport::default() };
    assert_eq!(found(&report), [FindingRule::ReceiverLimited]);
}

#[test]
fn a_capture_that_lost_packets_says_nothing_about_the_network() {
    let mut connection = connection();
    connection.from_broker.missing_segments = 2_000;
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
    let report = PacketReport { connections, ..report(connection()) };
    let findings = judged(&report);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].connections_in_all, findings[0].connections.len()), (50, 10));
    assert!(findings[0].connections[0].starts_with("192.0.2.1:299 "), "the worst is first");
}

#[test]
fn rules_without_their_source_are_not_judged() {
    let check = |present: SourceLevel, rule: FindingRule, expected: Option<&str>| {
        let source = |level| Source { level, present: level == present, note: String::new() };
        let sources = vec![source(SourceLevel::Sockets), source(SourceLevel::Packets)];
        let sockets = (present == SourceLevel::Sockets).then(|| SocketReport {
            busy: Some(0.5),
            receiver_limited: Some(0.0),
            send_buffer_limited: Some(0.0),
            observed_nanos: 2_000_000_000,
            ..SocketReport::default()
        });
        let mut report = match present {
            SourceLevel::Packets => report(connection()),
            _ => PacketReport::default(),
        };
        (report.sources, report.sockets) = (sources, sockets.into_iter().collect());
        assert_eq!(why_not(&report, rule).as_deref(), expected, "{rule:?} by {present:?}");
    };
    let (packets, sockets) = ("TCP segments were not seen", "sockets were not seen");
    check(SourceLevel::Packets, FindingRule::SmallPackets, None);
    check(SourceLevel::Packets, FindingRule::ReceiverLimited, None);
    check(SourceLevel::Packets, FindingRule::SendBufferLimited, Some(sockets));
    check(SourceLevel::Sockets, FindingRule::SmallPackets, Some(packets));
    check(SourceLevel::Sockets, FindingRule::ReceiverLimited, None);
    check(SourceLevel::Sockets, FindingRule::SendBufferLimited, None);
    check(SourceLevel::Writes, FindingRule::SendBufferLimited, Some(sockets));
}

/// Each rule about figures, with evidence in ten seconds. It does not judge by ten microseconds, or a few segments.
#[test]
fn too_little_evidence_is_not_judged() {
    type Plant = fn(&mut ConnectionReport);
    let shown: [(FindingRule, Plant); 8] = [
        (FindingRule::ZeroWindow, |row| row.from_client.longest_zero_window_nanos = 300_000_000),
        (FindingRule::DelayedAcknowledgement, |row| row.from_client.delayed_ack_stalls = 5),
        (FindingRule::ReceiverLimited, |row| row.from_broker.limits.receiver_window = 0.8),
        (FindingRule::NetworkLimited, |row| row.from_broker.missing_segments = 2_000),
        (FindingRule::FrameByFrame, |row| row.messages.frame_by_frame = 20_000),
        (FindingRule::SmallPackets, |row| row.from_broker.median_payload = 10),
        (FindingRule::AckPerMessage, |row| {
            (row.messages.acks, row.messages.ack_segments) = (20_000, 20_000);
        }),
        (FindingRule::ApplicationLimited, |row| {
            (row.messages.confirms, row.messages.max_unconfirmed) = (20_000, 1);
            row.from_client.limits.busy = 0.1;
        }),
    ];
    for (rule, plant) in shown {
        let mut connection = connection();
        plant(&mut connection);
        assert_eq!(found(&report(connection.clone())), [rule]);
        connection.last = Timestamp::from_unix_nanos(10_000);
        let short = report(connection);
        assert_eq!(found(&short), [], "{rule:?}");
        let reason = why_not(&short, rule).unwrap();
        assert!(reason.starts_with("it takes ") && reason.contains("10.0 µs"), "{reason}");
    }
}

#[test]
fn a_healthy_connection_is_judged_by_every_rule_that_it_is_about() {
    let mut report = report(connection());
    judge(&mut report);
    for rule in [FindingRule::ZeroWindow, FindingRule::NetworkLimited, FindingRule::ConnectionReset]
    {
        assert!(not_found(&report).any(|name| name == rule), "{rule:?}: {:?}", report.not_judged);
    }
    // It acknowledges nothing.
    assert_eq!(
        why_not(&report, FindingRule::AckPerMessage).as_deref(),
        Some("no acknowledgements were seen")
    );
    let earlier = PacketReport { not_judged: None, ..report };
    assert_eq!(not_found(&earlier).count(), 0);
}

/// A publisher whose broker has no room is never advised to take fewer messages.
#[test]
fn advice_depends_on_who_sends() {
    let advice = |change: fn(&mut ConnectionReport)| judged_with(change).remove(0);
    for finding in [
        advice(|row| row.from_broker.longest_zero_window_nanos = 20_000_000_000),
        advice(|row| row.from_client.limits.receiver_window = 0.8),
    ] {
        assert!(finding.fix.contains("publish at the broker's rate"), "{finding:?}");
        assert!(!finding.fix.contains("prefetch"), "{finding:?}");
        assert!(finding.severity < Severity::Critical);
    }
    let consumer = advice(|row| row.from_client.longest_zero_window_nanos = 20_000_000_000);
    assert!(consumer.fix.contains("prefetch") && consumer.severity == Severity::Critical);
}

fn event(kind: EventKind, code: Option<u32>) -> ConnectionEvent {
    ConnectionEvent {
        kind,
        from: Side::Broker,
        code,
        text: "a reason".to_owned(),
        count: 3,
        first: Timestamp::default(),
        last: Timestamp::default(),
        connections: vec!["192.0.2.1:40000 -> 192.0.2.2:5672".to_owned()],
        connections_in_all: 1,
        packets: vec![7],
    }
}

#[test]
fn a_blocked_publisher_does_not_lack_anything_to_send() {
    let mut row = connection();
    row.from_broker.longest_zero_window_nanos = 4_000_000_000;
    row.from_broker.zero_windows = 3;
    row.from_client.limits.busy = 0.1;
    (row.messages.confirms, row.messages.max_unconfirmed) = (20_000, 1);
    let report = PacketReport { events: vec![event(EventKind::Blocked, None)], ..report(row) };
    let findings = judged(&report);
    assert_eq!(findings[0].rule, FindingRule::ConnectionBlocked);
    assert!(findings[1].fix.contains("alarm"), "{findings:?}");
}

#[test]
fn errors_come_with_code_and_text_before_what_follows_from_them() {
    let events = [(EventKind::ClosedWithout, None), (EventKind::ChannelClosed, Some(404))]
        .map(|(kind, code)| event(kind, code));
    let report = PacketReport { events: events.to_vec(), ..report(connection()) };
    let first = judged(&report).remove(0);
    assert_eq!((first.rule, first.severity), (FindingRule::ChannelClosed, Severity::Critical));
    assert_eq!(first.evidence, "the broker: 404 a reason, 3 times");
    assert_eq!((first.packets, first.connections_in_all), (vec![7], 1));
    assert!(first.sentence.contains("NOT_FOUND"));
}
