//! Senders that wait: for a delayed acknowledgement, or because they have nothing to send.

use rabbitscope_text::short_time;

use super::hit::{Direction, Hit, directions};
use crate::report::{ConnectionReport, PacketReport, Severity, Side, SourceLevel};

/// Waits below which chance may be behind them.
const MIN_STALLS: u64 = 3;
/// Share of the time below which a sender counts as not busy.
const BUSY_SHARE: f64 = 0.5;
/// Messages below which nothing is said about what limits a connection.
const MIN_MESSAGES: u64 = 100;

/// A small segment, a pure acknowledgement 35 ms or more later, and at once the next segment.
pub(super) fn delayed_acknowledgement(report: &PacketReport) -> Vec<Hit> {
    let hit = |it: Direction<'_>| {
        let figures = it.figures;
        (figures.delayed_ack_stalls >= MIN_STALLS).then(|| Hit {
            severity: Severity::Warning,
            weight: figures.delayed_ack_nanos as f64,
            connection: it.connection.label(),
            source: SourceLevel::Packets,
            evidence: format!(
                "{} waited {} times, {} in all, {} each",
                it.sender(),
                figures.delayed_ack_stalls,
                short_time(figures.delayed_ack_nanos),
                short_time(figures.delayed_ack_nanos / figures.delayed_ack_stalls),
            ),
            packets: figures.delayed_ack_packets.clone(),
        })
    };
    directions(report).filter_map(hit).collect()
}

/// A sender that was idle most of the time while its peer kept up; what it waited for, where the frames tell.
pub(super) fn application_limited(report: &PacketReport) -> Vec<Hit> {
    let hit = |it: Direction<'_>| {
        let limits = it.figures.limits;
        let messages = match it.from {
            Side::Client => it.connection.messages.published,
            Side::Broker => it.connection.messages.delivered,
        };
        let waits_for = waits_for(it.connection, it.from)?;
        (messages >= MIN_MESSAGES && limits.busy < BUSY_SHARE).then(|| Hit {
            severity: Severity::Note,
            weight: 1.0 - limits.busy,
            connection: it.connection.label(),
            source: SourceLevel::Packets,
            evidence: format!(
                "{} had data under way in {:.0} % of the time; {waits_for}",
                it.sender(),
                100.0 * limits.busy,
            ),
            packets: Vec::new(),
        })
    };
    directions(report).filter_map(hit).collect()
}

/// What the sender waited for; nothing where the frames do not tell.
fn waits_for(connection: &ConnectionReport, from: Side) -> Option<String> {
    let messages = &connection.messages;
    match from {
        Side::Client if messages.confirms > 0 && messages.max_unconfirmed == 1 => {
            Some("it publishes, waits for the confirm, and publishes again".to_owned())
        }
        Side::Broker if messages.acks > 0 && (1..=2).contains(&messages.max_unacknowledged) => {
            Some(format!(
                "never more than {} unacknowledged: prefetch is the limit",
                messages.max_unacknowledged
            ))
        }
        _ => None,
    }
}
