//! Clients whose small segments wait for delayed acknowledgements.

use rabbitscope_wire::report::ConnectionReport;

use crate::{
    case::{Case, Source},
    limit::{Candidate, LimitKind, candidate::percent},
    starvation,
};

/// Stalls below which a connection is not judged.
const MIN_STALLS: u64 = 6;

/// Share of a publisher's time that it must wait.
const WAITING: f64 = 0.5;

/// Judges the clients by their packets. Pauses for lack of CPU time look the same.
pub(in crate::limit) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(report) = &case.packets else { return Vec::new() };
    if starvation::cause(case).is_some() {
        return Vec::new();
    }
    report.connections.iter().filter_map(delayed).collect()
}

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
