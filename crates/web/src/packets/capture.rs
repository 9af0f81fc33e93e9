//! Sources of the figures, and losses of the capture.

use std::io::{self, Write};

use rabbitscope_text::{counted, grouped, human_bytes};
use rabbitscope_wire::report::{CaptureReport, PacketReport};

use super::words;
use crate::escape::Markup;

/// Writes a line for each source, then the losses.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    writeln!(out, "<ul class=\"sources\">")?;
    for source in &report.sources {
        let (class, state) = if source.present { ("good", "used") } else { ("soft", "missing") };
        writeln!(
            out,
            "<li><span class=\"badge {class}\">{state}</span> <strong>{}</strong> {}</li>",
            words::source(source.level),
            Markup(&source.note)
        )?;
    }
    writeln!(out, "</ul>")?;
    match &report.capture {
        Some(capture) => losses(out, capture, report.totals.unread_bytes),
        None => writeln!(
            out,
            "<p class=\"soft\">No packets were captured, so latencies, frames and pictures are missing.</p>"
        ),
    }
}

fn losses(out: &mut dyn Write, capture: &CaptureReport, unread_bytes: u64) -> io::Result<()> {
    if let Some(dropped) = capture.dropped.filter(|dropped| *dropped > 0) {
        writeln!(
            out,
            "<p class=\"verdict warning\"><strong>The capture lost {}.</strong> The kernel dropped them because they \
             were not read in time. No verdict relies on gaps.</p>",
            counted(dropped, "packet")
        )?;
    }
    if let Some(damage) = &capture.damaged {
        writeln!(
            out,
            "<p class=\"verdict warning\"><strong>The capture is damaged:</strong> {}</p>",
            Markup(damage)
        )?;
    }
    writeln!(
        out,
        "<p>{} read, {} on the wire. {} {}{}</p>",
        counted(capture.packets, "packet"),
        human_bytes(capture.bytes),
        match capture.dropped {
            Some(0) => "The kernel dropped none.",
            Some(_) => "",
            None => "Dropped packets were not counted.",
        },
        left_out(capture, unread_bytes),
        tunnels(capture)
    )
}

/// Lists the tunnels that carried packets, in a sentence.
fn tunnels(capture: &CaptureReport) -> String {
    let packets = |(name, count): (&String, &u64)| {
        format!("{} in {}", counted(*count, "packet"), Markup(name))
    };
    let found: Vec<String> = capture.tunnels.iter().map(packets).collect();
    if found.is_empty() {
        String::new()
    } else {
        format!(" Carried in others: {}.", found.join(", "))
    }
}

/// Lists packets that were read but not analyzed, in a sentence.
fn left_out(capture: &CaptureReport, unread_bytes: u64) -> String {
    let out = &capture.left_out;
    let losses = [
        (capture.cut, grouped(capture.cut) + " cut off by the capture"),
        (out.not_tcp, grouped(out.not_tcp) + " no TCP"),
        (out.repeated, grouped(out.repeated) + " captured twice"),
        (out.other_ports, grouped(out.other_ports) + " of other ports"),
        (out.fragments, counted(out.fragments, "fragment")),
        (out.malformed, grouped(out.malformed) + " malformed"),
        (out.truncated, grouped(out.truncated) + " shorter than their headers"),
        (
            out.forgotten_connections,
            counted(out.forgotten_connections, "connection") + " forgotten",
        ),
        (out.gaps.max(out.gap_bytes), gaps(out.gaps, out.gap_bytes)),
        (unread_bytes, human_bytes(unread_bytes) + " of streams that no dissector could read"),
    ];
    let losses: Vec<String> =
        losses.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    if losses.is_empty() {
        "Everything was analyzed.".to_owned()
    } else {
        format!("Not analyzed: {}.", losses.join(", "))
    }
}

fn gaps(gaps: u64, bytes: u64) -> String {
    format!("{} in streams with {}", counted(gaps, "gap"), human_bytes(bytes))
}
