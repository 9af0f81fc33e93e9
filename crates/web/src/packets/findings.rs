//! Findings, worst first, and rules without findings.

use std::io::{self, Write};

use rabbitscope_text::{counted, grouped};
use rabbitscope_wire::{
    findings::not_found,
    report::{Finding, FindingRule, PacketReport},
};

use super::words;
use crate::{checks::sentence, escape::Markup};

/// Writes the findings in the order of the report.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let is_read = report.totals.segments > 0 || !report.sockets.is_empty();
    match (&report.findings[..], is_read) {
        ([], true) => {
            writeln!(out, "<p class=\"verdict good\"><strong>Nothing found.</strong></p>")?;
        }
        ([], false) => {
            writeln!(
                out,
                "<p class=\"verdict\"><strong>Nothing could be judged:</strong> no TCP segment of the broker was read.</p>"
            )?;
        }
        _ => {}
    }
    report.findings.iter().try_for_each(|finding| one(out, finding))?;
    checked(out, report)
}

fn one(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let severity = words::severity(finding.severity);
    writeln!(
        out,
        "<article class=\"verdict {severity}\"><h3><span class=\"badge\">{severity}</span> {}</h3>\n<p>{} <small>Source: {}.</small></p>",
        Markup(&sentence(&finding.sentence)),
        Markup(&sentence(&finding.evidence)),
        words::source(finding.source)
    )?;
    if !finding.fix.is_empty() {
        writeln!(out, "<p><strong>What to do:</strong> {}</p>", Markup(&sentence(&finding.fix)))?;
    }
    where_found(out, finding)?;
    writeln!(out, "</article>")
}

/// Writes connections and packets, folded so that a long list does not push the next finding off the screen.
fn where_found(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let in_all = finding.connections_in_all.max(finding.connections.len() as u64);
    let counts = [(in_all, "connection"), (finding.packets.len() as u64, "packet")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let summary = counts.map(|(count, noun)| counted(count, noun)).collect::<Vec<_>>().join(", ");
    if summary.is_empty() {
        return Ok(());
    }
    writeln!(out, "<details><summary>{summary}</summary>")?;
    connections(out, finding, in_all)?;
    packets(out, &finding.packets)?;
    writeln!(out, "</details>")
}

fn connections(out: &mut dyn Write, finding: &Finding, in_all: u64) -> io::Result<()> {
    if finding.connections.is_empty() {
        return Ok(());
    }
    write!(out, "<p class=\"facts\">The worst first:")?;
    for connection in &finding.connections {
        write!(out, " <code>{}</code>", Markup(connection))?;
    }
    match in_all - finding.connections.len() as u64 {
        0 => writeln!(out, "</p>"),
        more => writeln!(out, " and {} more</p>", grouped(more)),
    }
}

/// Writes a display filter that Wireshark and tshark accept unchanged.
fn packets(out: &mut dyn Write, packets: &[u64]) -> io::Result<()> {
    if packets.is_empty() {
        return Ok(());
    }
    let numbers = packets.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    writeln!(
        out,
        "<p class=\"facts\">The first packets, as a display filter of Wireshark: <code class=\"long\">frame.number in {{{numbers}}}</code></p>"
    )
}

/// Lists the rules that found nothing, and the rules that could not be judged.
fn checked(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let judged: Vec<&str> = not_found(report).map(FindingRule::title).collect();
    if !judged.is_empty() {
        writeln!(out, "<p class=\"soft\">Judged and not found: {}.</p>", judged.join(", "))?;
    }
    not_judged(out, report)
}

/// Lists the rules that could not be judged, each with its reason.
fn not_judged(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    let not_judged = report.not_judged.as_deref().unwrap_or_default();
    if not_judged.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<details class=\"soft\"><summary>Not judged: {}</summary>\n<ul>",
        counted(not_judged.len() as u64, "rule")
    )?;
    for judgement in not_judged {
        let (title, reason) = (judgement.rule.title(), Markup(&judgement.reason));
        writeln!(out, "<li>{title}: {reason}</li>")?;
    }
    writeln!(out, "</ul></details>")
}
