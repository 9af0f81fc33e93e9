//! Rules over what went wrong on connections: each event that is bad is a hit, with its code and its text.

use rabbitscope_text::grouped;

use super::{
    advice::Advice,
    codes,
    hit::{Case, Hit, share},
};
use crate::report::{ConnectionEvent, EventKind, PacketReport, Severity, Side, SourceLevel};

/// Connections for hardly a message, below which nothing is said, and their share of all.
const MIN_SHORT_LIVED: u64 = 20;
const SHORT_LIVED_SHARE: f64 = 0.5;
/// Channels, and messages for each, below which a channel is said to be opened for each message.
const MIN_CHANNELS: u64 = 20;
const MESSAGES_A_CHANNEL: u64 = 2;

/// A case for the whole capture, with a hit for each event of the kinds.
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

/// Who, code, text, how often.
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

/// Connections that are opened and closed for a message at most.
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
        from_event(event, Severity::Warning, codes::CONNECTION_CHURN, evidence)
    });
    let (count, nanos) = (report.totals.connections, report.totals.duration_nanos);
    vec![Case { count, nanos, hit }]
}

/// Channels that are opened for a message or two each.
pub(super) fn channel_churn(report: &PacketReport) -> Vec<Case> {
    let case = |it: super::hit::Direction<'_>| {
        let opened = it.connection.frames.iter().filter(|count| count.kind == "channel.open");
        let opened: u64 = opened.map(|count| count.frames).sum();
        let messages = it.connection.messages.published + it.connection.messages.delivered;
        let is_churn = opened >= MIN_CHANNELS && messages <= MESSAGES_A_CHANNEL * opened;
        let hit = is_churn.then(|| {
            let evidence = format!(
                "{} channels for {} messages, {:.1} channels a second",
                grouped(opened),
                grouped(messages),
                it.rate(opened)
            );
            it.hit(Severity::Warning, opened as f64, evidence, codes::CHANNEL_CHURN)
        });
        it.case(opened, hit)
    };
    let clients = super::hit::directions(report).filter(|it| it.from == Side::Client);
    clients.map(case).filter(|case| case.count > 0).collect()
}
