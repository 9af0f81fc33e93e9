//! Senders that wait: for a delayed acknowledgement, or because they have nothing to send.

use rabbitscope_text::short_time;

use super::{
    advice::{self, Advice},
    hit::{Case, Direction, directions, share},
};
use crate::report::{ConnectionReport, EventKind, PacketReport, Severity, Side};

/// Waits below which chance may be behind them.
const MIN_STALLS: u64 = 3;
/// Share of a connection's time from which such waits are a warning. A few cost little.
const COSTLY_SHARE: f64 = 0.05;
/// Share of the time below which a sender counts as not busy.
const BUSY_SHARE: f64 = 0.5;

/// A small segment, a pure acknowledgement 35 ms or more later, and at once the next segment.
pub(super) fn delayed_acknowledgement(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let figures = it.figures;
        let hit = (figures.delayed_ack_stalls >= MIN_STALLS).then(|| {
            let evidence = format!(
                "{} waited {} times, {} in all, {} each",
                it.sender(),
                figures.delayed_ack_stalls,
                short_time(figures.delayed_ack_nanos),
                short_time(figures.delayed_ack_nanos / figures.delayed_ack_stalls),
            );
            let weight = figures.delayed_ack_nanos as f64;
            let is_costly = share(figures.delayed_ack_nanos, it.nanos()) >= COSTLY_SHARE;
            let severity = if is_costly { Severity::Warning } else { Severity::Note };
            let hit = it.hit(severity, weight, evidence, advice::DELAYED_ACKNOWLEDGEMENT);
            hit.with_packets(&figures.delayed_ack_packets)
        });
        it.case(figures.data_segments, hit)
    };
    directions(report).map(case).collect()
}

/// A sender that was idle most of the time while its peer kept up; what it waited for, where the frames tell.
pub(super) fn application_limited(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let limits = it.figures.limits;
        let waits_for = waits_for(it.connection, it.from).filter(|_| !is_stopped(report, &it));
        let hit = waits_for.filter(|_| limits.busy < BUSY_SHARE).map(|(advice, waits_for)| {
            let evidence = format!(
                "{} had data under way in {:.0} % of the time; {waits_for}",
                it.sender(),
                100.0 * limits.busy,
            );
            it.hit(Severity::Note, 1.0 - limits.busy, evidence, advice)
        });
        let messages = match it.from {
            Side::Client => it.connection.messages.published,
            Side::Broker => it.connection.messages.delivered,
        };
        it.case(messages, hit)
    };
    directions(report).map(case).filter(|case| case.count > 0).collect()
}

/// The broker had blocked the client, or the receiver had no room: then the sender did not lack anything to send.
fn is_stopped(report: &PacketReport, it: &Direction<'_>) -> bool {
    let receiver = match it.from {
        Side::Client => &it.connection.from_broker,
        Side::Broker => &it.connection.from_client,
    };
    let label = it.connection.label();
    receiver.zero_windows > 0
        || report.events_of(EventKind::Blocked).any(|event| event.connections.contains(&label))
}

/// What the sender waited for; nothing where the frames do not tell.
fn waits_for(connection: &ConnectionReport, from: Side) -> Option<(Advice, String)> {
    let messages = &connection.messages;
    match from {
        Side::Client if messages.confirms > 0 && messages.max_unconfirmed == 1 => {
            let words = "it publishes, waits for the confirm, and publishes again";
            Some((advice::ONE_UNCONFIRMED, words.to_owned()))
        }
        Side::Broker if messages.acks > 0 && (1..=2).contains(&messages.max_unacknowledged) => {
            let words = format!("never more than {} unacknowledged", messages.max_unacknowledged);
            Some((advice::SMALL_PREFETCH, words))
        }
        _ => None,
    }
}
