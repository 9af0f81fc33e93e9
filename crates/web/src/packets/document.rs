//! The page: its sections in order.

use std::{
    io::{self, Write},
    time::Duration,
};

use rabbitscope_text::{counted, display_utc, grouped, human_bytes, short_time};
use rabbitscope_wire::report::{PacketReport, Totals};

use super::{
    capture, connections, findings, frames, ladder, latencies, sequence, sizes, sockets, tiles,
    words,
};
use crate::{
    document::{Block, Document, Section},
    report::write_document,
};

/// Writes the page of `rabbitscope packets`.
///
/// # Errors
///
/// Returns the errors of `out`.
pub fn write_packets(out: impl Write, report: &PacketReport) -> io::Result<()> {
    write_document(out, &document(report))
}

pub(super) fn document(report: &PacketReport) -> Document {
    let sections = [
        section("findings", "Findings", "", findings::blocks(report)),
        section("sources", "Sources", "", capture::blocks(report)),
        section("figures", "Network, clients or broker", "", tiles::blocks(report)),
        section("latencies", "Latencies on the wire", latencies::INTRO, latencies::blocks(report)),
        section("sequences", "Time-sequence graphs", sequence::INTRO, sequence::blocks(report)),
        section("sizes", "Sizes", "", sizes::blocks(report)),
        section("ladders", "Ladders", ladder::INTRO, ladder::blocks(report)),
        section("frames", "Frames", "", frames::blocks(report)),
        section("connections", "Connections", "", connections::blocks(report)),
        section("sockets", "Sockets", "", sockets::blocks(report)),
        section("words", "Words", "", words::blocks()),
    ];
    Document {
        title: format!("Packets: {}", report.subject),
        facts: totals(report),
        // A section without blocks has nothing to show.
        sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
    }
}

fn section(id: &str, title: &str, intro: &str, blocks: Vec<Block>) -> Section {
    Section::new(id, title, blocks).explained(intro)
}

/// Summarises time, length and amounts.
fn totals(report: &PacketReport) -> Vec<String> {
    let totals: &Totals = &report.totals;
    let mut facts = Vec::new();
    if totals.segments > 0 {
        let first = Duration::from_nanos(totals.first.unix_nanos());
        facts.push(format!("from {}", display_utc(first)));
        facts.push(short_time(totals.duration_nanos));
        facts.push(counted(totals.connections, "connection"));
        facts.push(counted(totals.segments, "segment"));
        facts.push(format!("{} of payload", human_bytes(totals.payload_bytes)));
        facts.push(counted(totals.frames, "frame"));
        facts.push(format!("{} published", grouped(totals.published)));
        facts.push(format!("{} delivered", grouped(totals.delivered)));
    }
    if !report.sockets.is_empty() {
        facts.push(counted(report.sockets.len() as u64, "socket"));
    }
    if facts.is_empty() { vec!["Nothing was seen.".to_owned()] } else { facts }
}
