//! The table of rules, and findings made of what shows them.

use std::cmp::Reverse;

use super::{
    hit::Hit,
    losses::capture_loss,
    segments::{ack_per_message, frame_by_frame, small_packets},
    waits::{application_limited, delayed_acknowledgement},
    windows::{network_limited, receiver_limited, send_buffer_limited, zero_window},
};
use crate::report::{Finding, FindingRule, PacketReport, Source, SourceLevel};

/// Most connections, and most packets, that a finding names.
const MAX_NAMED: usize = 10;

struct Rule {
    name: FindingRule,
    /// Without any of these it cannot find anything.
    sources: &'static [SourceLevel],
    hits: fn(&PacketReport) -> Vec<Hit>,
    sentence: &'static str,
    fix: &'static str,
}

const RULES: [Rule; 10] = [
    Rule {
        name: FindingRule::CaptureLoss,
        sources: &[SourceLevel::Packets],
        hits: capture_loss,
        sentence: "the capture lost packets, so gaps in streams say nothing about the network",
        fix: "capture fewer ports, give the ring more memory, or cut packets shorter; figures of sockets are not affected",
    },
    Rule {
        name: FindingRule::ZeroWindow,
        sources: &[SourceLevel::Packets],
        hits: zero_window,
        sentence: "a receiver had no room and its peer had to stop",
        fix: "make the receiver faster, or let it have fewer messages at a time (prefetch); the broker gives up a write \
              after 30 seconds and closes the connection",
    },
    Rule {
        name: FindingRule::DelayedAcknowledgement,
        sources: &[SourceLevel::Packets],
        hits: delayed_acknowledgement,
        sentence: "small segments wait for delayed acknowledgements (Nagle's algorithm)",
        fix: "set TCP_NODELAY on the sender's socket, or give a message to it with one write",
    },
    Rule {
        name: FindingRule::ReceiverLimited,
        sources: &[SourceLevel::Sockets, SourceLevel::Packets],
        hits: receiver_limited,
        sentence: "the receiver's window keeps the sender from sending",
        fix: "the receiver reads too slowly, or its receive buffer is small: look at its CPU, then at its buffer",
    },
    Rule {
        name: FindingRule::SendBufferLimited,
        sources: &[SourceLevel::Sockets],
        hits: send_buffer_limited,
        sentence: "the sender's own buffer keeps it from sending",
        fix: "make the send buffer larger: tcp_listen_options.sndbuf for the broker, SO_SNDBUF for a client",
    },
    Rule {
        name: FindingRule::NetworkLimited,
        sources: &[SourceLevel::Packets],
        hits: network_limited,
        sentence: "the network is the limit: segments are lost and sent again",
        fix: "look at the path: loss, queues, the congestion window",
    },
    Rule {
        name: FindingRule::FrameByFrame,
        sources: &[SourceLevel::Packets],
        hits: frame_by_frame,
        sentence: "the client sends method, header and body of a message in segments of their own",
        fix: "write the whole publish at once and flush once: about twice the throughput",
    },
    Rule {
        name: FindingRule::AckPerMessage,
        sources: &[SourceLevel::Packets],
        hits: ack_per_message,
        sentence: "the client acknowledges every message by itself, in a segment of its own",
        fix: "acknowledge several at once (multiple), such as every tenth of the prefetch",
    },
    Rule {
        name: FindingRule::SmallPackets,
        sources: &[SourceLevel::Packets],
        hits: small_packets,
        sentence: "many small segments",
        fix: "batch: write several messages at once, confirm and acknowledge several at once; the broker's writer \
              flushes at 1,414 bytes or when it has nothing more to write, so its segments follow the load",
    },
    Rule {
        name: FindingRule::ApplicationLimited,
        sources: &[SourceLevel::Packets],
        hits: application_limited,
        sentence: "neither network nor receiver is the limit: the sender had nothing to send",
        fix: "let more be under way at once: a larger confirm window or prefetch, more channels, requests in parallel",
    },
];

/// All findings, worst first.
pub fn judge(report: &PacketReport) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().filter_map(|rule| rule.judge(report)).collect();
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}

/// Rules that found nothing, each with whether it could: one of the sources that it needs was there.
pub fn not_found(report: &PacketReport) -> impl Iterator<Item = (FindingRule, bool)> {
    let is_found = |rule: &&Rule| report.findings.iter().any(|it| it.rule == rule.name);
    let silent = RULES.iter().filter(move |rule| !is_found(rule));
    silent.map(|rule| (rule.name, rule.is_possible(&report.sources)))
}

impl Rule {
    fn is_possible(&self, sources: &[Source]) -> bool {
        sources.iter().any(|it| it.present && self.sources.contains(&it.level))
    }

    fn judge(&self, report: &PacketReport) -> Option<Finding> {
        let mut hits = (self.hits)(report);
        hits.sort_by(|one, other| {
            other.severity.cmp(&one.severity).then(other.weight.total_cmp(&one.weight))
        });
        let worst = hits.first()?;
        Some(Finding {
            rule: self.name,
            severity: worst.severity,
            source: worst.source,
            sentence: self.sentence.to_owned(),
            evidence: worst.evidence.clone(),
            fix: self.fix.to_owned(),
            connections: hits.iter().map(|hit| hit.connection.clone()).take(MAX_NAMED).collect(),
            connections_in_all: hits.len() as u64,
            packets: worst.packets.iter().copied().take(MAX_NAMED).collect(),
        })
    }
}
