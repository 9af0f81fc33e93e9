//! The network: packets are lost, or a send buffer is full. Connections to other nodes count as distribution.

use rabbitscope_text::human_bytes;
use rabbitscope_wire::report::{ConnectionReport, PacketReport, SocketReport, is_within_machine};

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Source};

/// Share of the time in which a socket of the broker must have data to send.
const BUSY: f64 = 0.5;

/// Retransmitted share of the segments from which losses explain a busy socket.
const LOST: f64 = 0.001;

/// Segments below which losses are not judged.
const MIN_SEGMENTS: u64 = 200;

/// Lost segments below which they say nothing: a peer that gets no CPU for a while answers late, and one segment is sent
/// again although it arrived.
const MIN_LOST: u64 = 5;

/// Bytes that wait in a socket from which its link is full.
const UNSENT: u64 = 64 << 10;

/// Share of the time in which such a socket must have data under way.
const ALWAYS: f64 = 0.8;

/// Share of the busy time in which the send buffer must be full.
const BUFFER: f64 = 0.3;

/// Judges the broker's sockets, and the losses of both directions.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(report) = &case.packets else { return Vec::new() };
    let sockets = report.sockets.iter().filter(|socket| socket.of_broker);
    let sockets = sockets.filter(|one| case.peer_between(&one.local, &one.remote).is_none());
    let mut found: Vec<Candidate> = sockets.filter_map(of_socket).collect();
    found.extend(of_clients(case, report));
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(3);
    found
}

fn of_socket(socket: &SocketReport) -> Option<Candidate> {
    let (limited, sentence, figure) = full(socket)?;
    Some(
        Candidate::new(LimitKind::Network, &*socket.remote, limited, BUSY, sentence)
            .with(Source::Sockets, figure),
    )
}

/// Returns the share of the time in which a socket of the broker is limited by its link, with a sentence and a figure.
pub(super) fn full(socket: &SocketReport) -> Option<(f64, String, String)> {
    let (busy, segments) = (socket.busy?, socket.data_segments_sent?);
    let again = socket.retransmitted.unwrap_or_default();
    let (lost, buffer) = (share(again, segments), socket.send_buffer_limited.unwrap_or_default());
    let has_way = !is_within_machine(&socket.local, &socket.remote);
    let is_lossy = has_way && again >= MIN_LOST && lost >= LOST;
    let unsent = socket.max_unsent_bytes.unwrap_or_default();
    let is_receiver = socket.receiver_limited.is_some_and(|limited| limited >= 0.5 * busy);
    if segments < MIN_SEGMENTS || is_receiver {
        return None;
    }
    let figure = format!(
        "{} -> {}: busy in {} of the time, {again} of {segments} segments sent again, send buffer full in {}",
        socket.local,
        socket.remote,
        percent(busy),
        percent(buffer),
    );
    let sentence = if is_lossy {
        format!("{} of the segments to {} are lost on the way", exact(lost), socket.remote)
    } else if unsent >= UNSENT && busy >= ALWAYS {
        format!(
            "{} waits in the socket to {}: the link is full",
            human_bytes(unsent),
            socket.remote
        )
    } else if buffer >= BUFFER * busy {
        format!("the send buffer to {} is full", socket.remote)
    } else {
        return None;
    };
    let limited = if is_lossy || unsent >= UNSENT { busy } else { buffer };
    Some((limited, sentence, figure))
}

/// Losses of the clients' segments show in packets only.
fn of_clients(case: &Case, report: &PacketReport) -> Vec<Candidate> {
    let has_way = |one: &&ConnectionReport| {
        case.peer_between(&one.broker, &one.client).is_none()
            && !is_within_machine(&one.broker, &one.client)
    };
    let of_clients = report.connections.iter().filter(has_way);
    let lossy = of_clients.filter_map(|connection| {
        let figures = &connection.from_client;
        let lost = share(figures.missing_segments, figures.data_segments);
        let is_judged = figures.data_segments >= MIN_SEGMENTS
            && figures.missing_segments >= MIN_LOST
            && lost >= LOST;
        is_judged.then(|| {
            let sentence = format!(
                "{} of the segments from {} are lost on the way",
                exact(lost),
                connection.client
            );
            let figure = format!(
                "{} of {} segments missing; data under way in {} of the time",
                figures.missing_segments,
                figures.data_segments,
                percent(figures.limits.busy),
            );
            let busy = figures.limits.busy;
            Candidate::new(LimitKind::Network, &*connection.client, busy, BUSY, sentence)
                .with(Source::Packets, figure)
        })
    });
    lossy.collect()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn exact(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
