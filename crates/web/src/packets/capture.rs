//! Sources of the figures, and losses of the capture.

use rabbitscope_text::{counted, grouped, human_bytes};
use rabbitscope_wire::report::{CaptureReport, PacketReport};

use crate::document::{self, Block, Sentence, Tone};

/// Returns a line for each source, then the losses.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    let source = |source: &rabbitscope_wire::report::Source| {
        let (tone, state) =
            if source.present { (Tone::Plain, "used") } else { (Tone::Soft, "missing") };
        let text = format!("{}: {}", document::source(source.level), source.note);
        Sentence::new(text, tone).badge(state)
    };
    let sources = report.sources.iter().map(source);
    let losses = if let Some(capture) = &report.capture {
        losses(capture, report.totals.unread_bytes)
    } else {
        let text = "No packets were captured, so latencies, frames and pictures are missing.";
        vec![Sentence::new(text, Tone::Soft)]
    };
    vec![Block::sentences("capture", sources.chain(losses).collect())]
}

fn losses(capture: &CaptureReport, unread_bytes: u64) -> Vec<Sentence> {
    let lost = capture.dropped.filter(|dropped| *dropped > 0).map(|dropped| {
        let lost = counted(dropped, "packet");
        let text = format!(
            "The capture lost {lost}. The kernel dropped them because they were not read in time. No verdict relies on \
             gaps."
        );
        Sentence::new(text, Tone::Warning)
    });
    let damaged = capture
        .damaged
        .iter()
        .map(|damage| Sentence::new(format!("The capture is damaged: {damage}"), Tone::Warning));
    let dropped = match capture.dropped {
        Some(0) => " The kernel dropped none.",
        Some(_) => "",
        None => " Dropped packets were not counted.",
    };
    let read = format!(
        "{} read, {} on the wire.{dropped} {}{}",
        counted(capture.packets, "packet"),
        human_bytes(capture.bytes),
        left_out(capture, unread_bytes),
        tunnels(capture)
    );
    lost.into_iter().chain(damaged).chain([Sentence::new(read, Tone::Plain)]).collect()
}

/// Lists the tunnels that carried packets, in a sentence.
fn tunnels(capture: &CaptureReport) -> String {
    let packets =
        |(name, count): (&String, &u64)| format!("{} in {}", counted(*count, "packet"), name);
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
