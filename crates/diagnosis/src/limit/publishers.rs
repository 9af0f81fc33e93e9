//! Publishers that wait for the confirm of each message before the next one.

use rabbitscope_text::short_time;
use rabbitscope_wire::report::{ConnectionReport, LatencyKind, PacketReport};

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Source};

/// Publishes below which a connection is not judged.
const MIN_PUBLISHES: u64 = 50;

/// Stalls below which a connection is not judged.
const MIN_STALLS: u64 = 6;

/// Unconfirmed messages up to which a publisher works one by one.
const ONE_BY_ONE: u64 = 2;

/// Share of a publisher's time that it must wait for confirms.
const WAITING: f64 = 0.5;

/// Score of publishers that work one by one, but are slow by themselves: more at once could still be faster.
const PERHAPS: f64 = 0.8;

/// Share of the published messages that must come from such publishers.
const OF_ALL: f64 = 0.5;

/// Judges the publishers by their packets.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(report) = &case.packets else { return Vec::new() };
    let delayed = report.connections.iter().filter_map(delayed);
    delayed.chain(one_by_one(report)).collect()
}

/// A client whose small segments wait for delayed acknowledgements.
fn delayed(connection: &ConnectionReport) -> Option<Candidate> {
    let figures = &connection.from_client;
    let seen = connection.last.since(connection.first).as_nanos() as f64;
    let share = figures.delayed_ack_nanos as f64 / seen.max(1.0);
    (figures.delayed_ack_stalls >= MIN_STALLS).then(|| {
        let client = &connection.client;
        let sentence = format!("{client} waits for delayed acknowledgements before it sends on");
        let figure =
            format!("{} stalls, {} of the time", figures.delayed_ack_stalls, percent(share));
        Candidate::new(LimitKind::Publishers, &**client, share, WAITING, sentence)
            .with(Source::Packets, figure)
    })
}

fn one_by_one(report: &PacketReport) -> Vec<Candidate> {
    let all: u64 = report.connections.iter().map(|one| one.messages.published).sum();
    let waiting: Vec<(&ConnectionReport, f64, f64)> =
        report.connections.iter().filter_map(waiting).collect();
    let of_them: u64 = waiting.iter().map(|(one, ..)| one.messages.published).sum();
    let Some((first, _, mean)) =
        waiting.iter().max_by_key(|(one, ..)| one.messages.published).copied()
    else {
        return Vec::new();
    };
    if (of_them as f64) < OF_ALL * all as f64 {
        return Vec::new();
    }
    let share =
        waiting.iter().map(|(one, share, _)| share * one.messages.published as f64).sum::<f64>()
            / of_them as f64;
    let count = waiting.len();
    let sentence = format!(
        "{} wait for the confirm of each message before the next one",
        if count == 1 {
            format!("{} does not publish more: it has to", first.client)
        } else {
            format!("{count} publishers")
        },
    );
    let figure = format!(
        "publish to confirm takes {} on average, which is {} of a publisher's time; at most {ONE_BY_ONE} messages are \
         unconfirmed",
        short_time(nanos(mean)),
        percent(share),
    );
    let candidate = Candidate::new(LimitKind::Publishers, &*first.client, share, WAITING, sentence)
        .with(Source::Packets, figure);
    vec![candidate.at_least(PERHAPS)]
}

/// Returns the share of its time in which a one-by-one publisher waits, and its mean confirm latency in nanoseconds.
fn waiting(connection: &ConnectionReport) -> Option<(&ConnectionReport, f64, f64)> {
    let messages = &connection.messages;
    if messages.published < MIN_PUBLISHES
        || messages.confirms == 0
        || messages.max_unconfirmed > ONE_BY_ONE
    {
        return None;
    }
    let latency = connection.latencies.iter().find(|one| {
        matches!(one.kind, LatencyKind::PublishToConfirm | LatencyKind::PublishToConfirmAtLeast)
    })?;
    let seen = connection.last.since(connection.first).as_nanos() as f64;
    let channels = connection.channels.max(1) as f64;
    let share = latency.mean * messages.published as f64 / (seen * channels);
    Some((connection, share.min(1.0), latency.mean))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of nanoseconds"
)]
const fn nanos(mean: f64) -> u64 {
    mean as u64
}
