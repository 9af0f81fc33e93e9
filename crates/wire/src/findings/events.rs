//! Rules about errors on connections. Each bad event is a hit, with its code and its text.

use rabbitscope_text::{grouped, short_time};

use super::{
    advice::Advice,
    codes,
    hit::{Case, Hit, share},
};
use crate::{
    packet::Timestamp,
    protocols::Protocol,
    report::{ConnectionEvent, EventKind, PacketReport, Severity, Side, SourceLevel},
};

/// Minimum number of connections for at most one message, and minimum of their share of all connections.
const MIN_SHORT_LIVED: u64 = 20;
const SHORT_LIVED_SHARE: f64 = 0.5;
/// Rate of them, per second, from which the finding is a warning. A program that seldom publishes may open a connection
/// each time.
const COSTLY_SHORT_LIVED: f64 = 5.0;
/// Minimum of channels, and maximum of messages per channel, for the finding that a channel is opened per message.
const MIN_CHANNELS: u64 = 20;
const MESSAGES_A_CHANNEL: u64 = 2;
/// Minimum of MQTT connections that begin between the first end and the last, for the finding that clients reconnect.
const MIN_AGAIN: u64 = 2;

/// Returns the reason why rules about frames cannot judge the report, if any.
pub(super) fn without_frames(report: &PacketReport) -> Option<&'static str> {
    let is_read = report.frames.iter().any(|count| count.protocol != Protocol::Tls.name());
    let reason = if report.frames.is_empty() {
        "no frame of the broker's protocols could be read"
    } else {
        "TLS hides the frames"
    };
    (!is_read).then_some(reason)
}

/// Returns the reason why missed heartbeats cannot be judged, if any. Their interval is negotiated when a connection
/// opens.
pub(super) fn without_interval(report: &PacketReport) -> Option<&'static str> {
    let is_agreed = report.frames.iter().any(|count| count.kind == "connection.tune-ok");
    let is_found = report.events_of(EventKind::MissedHeartbeats).next().is_some();
    let reason = "no connection was seen from its beginning on";
    without_frames(report).or((!is_agreed).then_some(reason)).filter(|_| !is_found)
}

/// Returns a case for the whole capture, and a hit for each event of the kinds.
pub(super) fn cases(report: &PacketReport, kinds: &[EventKind]) -> Vec<Case> {
    let events = report.events.iter().filter(|event| kinds.contains(&event.kind));
    let (count, nanos) = (report.totals.segments, report.totals.duration_nanos);
    let hits = events.map(|event| Case { count, nanos, hit: Some(hit(event)) });
    std::iter::once(Case { count, nanos, hit: None }).chain(hits).collect()
}

fn hit(event: &ConnectionEvent) -> Hit {
    let (severity, advice) = codes::advice(event);
    from_event(event, severity, advice, evidence(event))
}

fn from_event(
    event: &ConnectionEvent,
    severity: Severity,
    advice: Advice,
    evidence: String,
) -> Hit {
    Hit {
        severity,
        weight: event.count as f64,
        connections: event.connections.clone(),
        connections_in_all: event.connections_in_all,
        source: SourceLevel::Packets,
        evidence,
        packets: event.packets.clone(),
        advice,
    }
}

/// Formats sender, code, text and count.
fn evidence(event: &ConnectionEvent) -> String {
    let who = match event.from {
        Side::Client => "the client",
        Side::Broker => "the broker",
    };
    let code = event.code.map_or(String::new(), |code| format!(" {code}"));
    let often =
        if event.count > 1 { format!(", {} times", grouped(event.count)) } else { String::new() };
    format!("{who}:{code} {}{often}", event.text)
}

/// Returns cases of MQTT clients that reconnect after the broker ended their connections, and lose the next one too.
pub(super) fn mqtt_loop(report: &PacketReport) -> Vec<Case> {
    let is_end = |event: &&ConnectionEvent| {
        let is_silent = event.kind == EventKind::ClosedWithout
            && event.from == Side::Broker
            && event.text == ConnectionEvent::WITHOUT_DISCONNECT;
        is_silent || event.kind == EventKind::MqttDisconnected
    };
    report.events.iter().filter(is_end).map(|event| mqtt_ends(report, event)).collect()
}

fn mqtt_ends(report: &PacketReport, event: &ConnectionEvent) -> Case {
    let nanos = event.last.since(event.first).as_nanos();
    let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
    let mqtt =
        report.connections.iter().filter(|connection| connection.protocol == Protocol::Mqtt.name());
    let is_between = |first: Timestamp| first > event.first && first < event.last;
    let began = mqtt.filter(|connection| is_between(connection.first)).count() as u64;
    let hit = (began >= MIN_AGAIN).then(|| {
        let evidence = format!(
            "{}; {} connections ended so within {}, {} were opened meanwhile",
            evidence(event),
            grouped(event.count),
            short_time(nanos),
            grouped(began),
        );
        from_event(event, Severity::Critical, codes::MQTT_LOOP, evidence)
    });
    Case { count: event.count, nanos, hit }
}

/// Judges connections that are opened and closed for one message at most.
pub(super) fn connection_churn(report: &PacketReport) -> Vec<Case> {
    let short: Vec<&ConnectionEvent> = report.events_of(EventKind::ShortLived).collect();
    let count: u64 = short.iter().map(|event| event.count).sum();
    let seconds = report.totals.duration_nanos as f64 / 1e9;
    let is_churn =
        count >= MIN_SHORT_LIVED && share(count, report.totals.connections) >= SHORT_LIVED_SHARE;
    let hit = short.first().filter(|_| is_churn).map(|event| {
        let rate = if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let evidence = format!(
            "{} of {} connections were opened and closed for a message at most, {rate:.1} a second",
            grouped(count),
            grouped(report.totals.connections),
        );
        let severity = if rate >= COSTLY_SHORT_LIVED { Severity::Warning } else { Severity::Note };
        from_event(event, severity, codes::CONNECTION_CHURN, evidence)
    });
    let (count, nanos) = (report.totals.connections, report.totals.duration_nanos);
    vec![Case { count, nanos, hit }]
}

/// Judges channels that are opened for a message or two each.
pub(super) fn channel_churn(report: &PacketReport) -> Vec<Case> {
    let case = |direction: super::hit::Direction<'_>| {
        let opened =
            direction.connection.frames.iter().filter(|count| count.kind == "channel.open");
        let opened: u64 = opened.map(|count| count.frames).sum();
        let messages =
            direction.connection.messages.published + direction.connection.messages.delivered;
        let is_churn = opened >= MIN_CHANNELS && messages <= MESSAGES_A_CHANNEL * opened;
        let hit = is_churn.then(|| {
            let evidence = format!(
                "{} channels for {} messages, {:.1} channels a second",
                grouped(opened),
                grouped(messages),
                direction.rate(opened)
            );
            direction.hit(Severity::Warning, opened as f64, evidence, codes::CHANNEL_CHURN)
        });
        direction.case(opened, hit)
    };
    let clients = super::hit::directions(report).filter(|direction| direction.from == Side::Client);
    clients.map(case).filter(|case| case.count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        findings::judge,
        report::{CaptureReport, ConnectionReport, FindingRule, FrameCount},
    };

    /// Returns a report in which the broker ends MQTT connections at `seconds`; the connections began at `began`.
    fn ends(seconds: [u64; 2], count: u64, began: &[u64]) -> PacketReport {
        let time = |seconds: u64| Timestamp::from_unix_nanos(seconds * 1_000_000_000);
        let mqtt = || Protocol::Mqtt.name().to_owned();
        let mut report = PacketReport {
            capture: Some(CaptureReport::default()),
            frames: vec![FrameCount { protocol: mqtt(), ..FrameCount::default() }],
            connections: began
                .iter()
                .map(|first| ConnectionReport {
                    protocol: mqtt(),
                    first: time(*first),
                    ..ConnectionReport::default()
                })
                .collect(),
            events: vec![ConnectionEvent {
                kind: EventKind::MqttDisconnected,
                from: Side::Broker,
                code: Some(0x8e),
                text: "session taken over".to_owned(),
                count,
                first: time(seconds[0]),
                last: time(seconds[1]),
                connections: vec!["a".to_owned()],
                connections_in_all: count,
                packets: vec![7],
            }],
            ..PacketReport::default()
        };
        report.totals.segments = 100;
        judge(&mut report);
        report
    }

    #[test]
    fn clients_of_mqtt_that_come_again_are_a_loop() {
        let looping = ends([10, 14], 5, &[9, 10, 11, 12, 13]).findings;
        let found: Vec<FindingRule> = looping.iter().map(|finding| finding.rule).collect();
        assert_eq!(found, [FindingRule::MqttLoop, FindingRule::MqttRefused]);
        let evidence = "5 connections ended so within 4.00 s, 3 were opened meanwhile";
        assert!(looping[0].evidence.contains(evidence), "{}", looping[0].evidence);
        // A node that ends, and one that ends twice.
        for report in [ends([10, 10], 5, &[1, 2, 3, 4, 5]), ends([10, 14], 2, &[9, 11, 12])] {
            let found: Vec<FindingRule> =
                report.findings.iter().map(|finding| finding.rule).collect();
            assert_eq!(found, [FindingRule::MqttRefused]);
        }
    }

    /// A program that seldom publishes may open a connection each time.
    #[test]
    fn connections_for_a_message_are_a_warning_where_they_are_many() {
        let churn = |seconds: u64| {
            let mut report = ends([10, 10], 30, &[]);
            report.events[0].kind = EventKind::ShortLived;
            (report.totals.connections, report.totals.duration_nanos) =
                (40, seconds * 1_000_000_000);
            judge(&mut report);
            report.findings[0].clone()
        };
        assert_eq!(churn(5).rule, FindingRule::ConnectionChurn);
        assert_eq!([churn(5).severity, churn(7).severity], [Severity::Warning, Severity::Note]);
    }
}
