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
use crate::escape::Markup;

const STYLE: &str = include_str!("style.css");

/// A part of the page with its own heading.
struct Section {
    id: &'static str,
    name: &'static str,
    is_there: fn(&PacketReport) -> bool,
    draw: fn(&mut dyn Write, &PacketReport) -> io::Result<()>,
}

const SECTIONS: [Section; 11] = [
    Section { id: "findings", name: "Findings", is_there: |_| true, draw: findings::draw },
    Section { id: "sources", name: "Sources", is_there: |_| true, draw: capture::draw },
    Section {
        id: "figures",
        name: "Network, clients or broker",
        is_there: |report| report.totals.segments > 0,
        draw: tiles::draw,
    },
    Section {
        id: "latencies",
        name: "Latencies on the wire",
        is_there: |report| !report.latencies.is_empty(),
        draw: latencies::draw,
    },
    Section {
        id: "sequences",
        name: "Time-sequence graphs",
        is_there: |report| !report.time_sequences.is_empty(),
        draw: sequence::draw,
    },
    Section {
        id: "sizes",
        name: "Sizes",
        is_there: |report| !report.sizes.is_empty() || report.writes.is_some(),
        draw: sizes::draw,
    },
    Section {
        id: "ladders",
        name: "Ladders",
        is_there: |report| !report.ladders.is_empty(),
        draw: ladder::draw,
    },
    Section {
        id: "frames",
        name: "Frames",
        is_there: |report| !report.frames.is_empty(),
        draw: frames::draw,
    },
    Section {
        id: "connections",
        name: "Connections",
        is_there: |report| !report.connections.is_empty(),
        draw: connections::draw,
    },
    Section {
        id: "sockets",
        name: "Sockets",
        is_there: |report| !report.sockets.is_empty(),
        draw: sockets::draw,
    },
    Section { id: "words", name: "Words", is_there: |_| true, draw: words::list },
];

/// Writes the page of `rabbitscope packets`.
///
/// # Errors
///
/// Returns the errors of `out`.
pub fn write_packets(mut out: impl Write, report: &PacketReport) -> io::Result<()> {
    let subject = Markup(&report.subject);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Packets: {subject}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Packets: {subject}</h1>\n\
         <p class=\"soft\">{}</p>\n<nav aria-label=\"Sections\">",
        totals(report),
    )?;
    let sections = || SECTIONS.iter().filter(|section| (section.is_there)(report));
    for Section { id, name, .. } in sections() {
        write!(out, "<a href=\"#{id}\">{name}</a> ")?;
    }
    writeln!(out, "</nav>")?;
    for Section { id, name, draw, .. } in sections() {
        writeln!(out, "<h2 id=\"{id}\">{name}</h2>")?;
        draw(&mut out, report)?;
    }
    write!(out, "</main>\n</body>\n</html>\n")?;
    out.flush()
}

/// Summarises time, length and amounts in one line.
fn totals(report: &PacketReport) -> String {
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
    if facts.is_empty() { "Nothing was seen.".to_owned() } else { facts.join(" · ") }
}
