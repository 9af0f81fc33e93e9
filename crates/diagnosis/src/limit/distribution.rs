//! The connection between two nodes: its port is full and senders are suspended, or its link is full.

use rabbitscope_text::human_bytes;
use rabbitscope_wire::report::SocketReport;

use super::{Candidate, LimitKind, candidate::percent, network};
use crate::case::{Case, PeerNode, Source};

/// Share of the looks in which the port must be full.
const FULL: f64 = 0.3;

/// Looks below which nothing is judged.
const MIN_LOOKS: u64 = 40;

/// Share of the time in which the link to another node must be full.
const BUSY: f64 = 0.5;

/// Judges the connections to other nodes.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let mut found = ports(case);
    found.extend(links(case));
    found
}

/// Judges the kernel's figures of the connections. The VM does not know that the kernel's buffer is full before its own
/// is.
fn links(case: &Case) -> Vec<Candidate> {
    let sockets = case.packets.as_ref().map_or(&[][..], |report| &report.sockets);
    let candidate = |socket: &SocketReport| {
        let peer = case.peer_between(&socket.local, &socket.remote)?;
        let (share, sentence, figure) = network::full(socket)?;
        let sentence = format!("the link to {} is full: {sentence}", peer.node);
        Some(
            Candidate::new(LimitKind::Distribution, &*peer.node, share, BUSY, sentence)
                .with(Source::Sockets, figure),
        )
    };
    sockets.iter().filter_map(candidate).collect()
}

fn ports(case: &Case) -> Vec<Candidate> {
    let Ok(vm) = &case.vm else { return Vec::new() };
    let candidate = |peer: &PeerNode| {
        let share = peer.busy_share;
        let sentence =
            format!("the link to {} is full in {} of the looks", peer.node, percent(share));
        let figure = format!(
            "{} wait in the port on average (limit {}), {} sent a second",
            human_bytes(whole(peer.queued_bytes)),
            human_bytes(peer.limit_bytes),
            human_bytes(whole(peer.sent_bytes_per_second)),
        );
        Candidate::new(LimitKind::Distribution, &*peer.node, share, FULL, sentence)
            .with(Source::Node, figure)
    };
    let peers = vm.peers.iter().filter(|peer| vm.looks >= MIN_LOOKS && peer.busy_share > 0.0);
    peers.map(candidate).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
const fn whole(bytes: f64) -> u64 {
    bytes as u64
}
