//! The connection between two nodes: its port is full, and senders are suspended.

use rabbitscope_text::human_bytes;

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, PeerNode, Source};

/// Share of the looks in which the port must be full.
const FULL: f64 = 0.3;

/// Looks below which nothing is judged.
const MIN_LOOKS: u64 = 40;

/// Judges the ports to other nodes.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
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
