//! Senders that wait: for a delayed acknowledgement, or for data to send.

use rabbitscope_text::short_time;

use super::{
    advice::{self, Advice},
    hit::{Case, Direction, directions, share},
};
use crate::report::{ConnectionReport, EventKind, MessageFigures, PacketReport, Severity, Side};

/// Minimum of waits; fewer may be chance.
const MIN_STALLS: u64 = 3;
/// Share of a connection's time from which such waits are a warning. A few cost little.
const COSTLY_SHARE: f64 = 0.05;
/// Share of the time below which a sender is not busy.
const BUSY_SHARE: f64 = 0.5;

/// Judges waits for delayed acknowledgements: a small segment, a pure acknowledgement at least 35 ms later, and at once
/// the next segment.
pub(super) fn delayed_acknowledgement(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let figures = direction.figures;
        let hit = (figures.delayed_ack_stalls >= MIN_STALLS).then(|| {
            let evidence = format!(
                "{} waited {} times, {} in total, {} each",
                direction.sender(),
                figures.delayed_ack_stalls,
                short_time(figures.delayed_ack_nanos),
                short_time(figures.delayed_ack_nanos / figures.delayed_ack_stalls),
            );
            let weight = figures.delayed_ack_nanos as f64;
            let is_costly = share(figures.delayed_ack_nanos, direction.nanos()) >= COSTLY_SHARE;
            let severity = if is_costly { Severity::Warning } else { Severity::Note };
            let hit = direction.hit(severity, weight, evidence, advice::DELAYED_ACKNOWLEDGEMENT);
            hit.with_packets(&figures.delayed_ack_packets)
        });
        direction.case(figures.data_segments, hit)
    };
    directions(report).map(case).collect()
}

/// Judges senders that were idle most of the time while their peers kept up. Names the reason of the wait if the frames
/// show it.
pub(super) fn application_limited(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let limits = direction.figures.limits;
        let waits_for = waits_for(direction.connection, direction.from)
            .filter(|_| !is_stopped(report, &direction));
        let hit = waits_for.filter(|_| limits.busy < BUSY_SHARE).map(|(advice, waits_for)| {
            let evidence = format!(
                "{} had data under way in {:.0} % of the time; {waits_for}",
                direction.sender(),
                100.0 * limits.busy,
            );
            direction.hit(Severity::Note, 1.0 - limits.busy, evidence, advice)
        });
        let messages = match direction.from {
            Side::Client if is_window_unknown(&direction.connection.messages) => 0,
            Side::Client => direction.connection.messages.published,
            Side::Broker => direction.connection.messages.delivered,
        };
        direction.case(messages, hit)
    };
    directions(report).map(case).collect()
}

/// Returns whether the packets do not show how many messages are unconfirmed.
fn is_window_unknown(messages: &MessageFigures) -> bool {
    messages.confirms > 0 && messages.is_one_by_one().is_none()
}

/// Returns whether the broker had blocked the client, or the receiver had no room. Then the sender did not lack data.
fn is_stopped(report: &PacketReport, direction: &Direction<'_>) -> bool {
    let receiver = match direction.from {
        Side::Client => &direction.connection.from_broker,
        Side::Broker => &direction.connection.from_client,
    };
    let label = direction.connection.label();
    receiver.zero_windows > 0
        || report.events_of(EventKind::Blocked).any(|event| event.connections.contains(&label))
}

/// Returns the reason of the sender's wait; none if the frames do not show it.
fn waits_for(connection: &ConnectionReport, from: Side) -> Option<(Advice, String)> {
    let messages = &connection.messages;
    match from {
        Side::Client if messages.confirms > 0 && messages.is_one_by_one() == Some(true) => {
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
