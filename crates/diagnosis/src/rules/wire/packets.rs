//! The conversion of findings about packets. `rabbitscope-wire` has judged them.

use rabbitscope_text::counted;
use rabbitscope_wire::{
    findings::not_found,
    report::{self, FindingRule, PacketReport, SourceLevel},
};

use super::settings::advice;
use crate::{
    case::{CaptureEnd, Case, Source},
    finding::{Evidence, Finding, Severity},
    rules::{
        draft::{Aim, Draft},
        names,
        rule::unread_words,
        unjudged::Unjudged,
    },
    starvation,
};

/// Returns the findings about packets. Adds the number of rules without findings to `healthy`, the
/// rules that could not judge to `not_judged`.
pub(crate) fn packets(
    case: &Case,
    healthy: &mut Vec<String>,
    not_judged: &mut Vec<Unjudged>,
) -> Vec<(Finding, Option<Aim>)> {
    let report = match &case.packets {
        Ok(report) => report,
        Err(unread) => {
            not_judged.push(Unjudged { rule: "packets".to_owned(), reason: unread_words(unread) });
            return Vec::new();
        }
    };
    if let Some(end) = case.capture_end.as_ref().filter(|end| !end.is_long_enough()) {
        not_judged.push(Unjudged { rule: "packets".to_owned(), reason: too_short(case, end) });
        return Vec::new();
    }
    let sound = not_found(report).filter(|rule| obstacle(case, *rule).is_none()).count();
    if sound > 0 {
        let rules = counted(sound as u64, "rule");
        healthy.push(format!("packets ({rules}{})", captured_span(case)));
    }
    not_judged.extend(unjudged(case, report));
    let judged = report.findings.iter().filter(|found| obstacle(case, found.rule).is_none());
    let found = judged.filter_map(|found| without_nodes(case, found));
    found.map(|found| convert(case, report, &found)).collect()
}

/// Returns the rules that could not judge: for lack of packets, or of CPU time.
fn unjudged(case: &Case, report: &PacketReport) -> Vec<Unjudged> {
    let skipped = report.not_judged.iter().flatten();
    let skipped = skipped.map(|skipped| (skipped.rule, skipped.reason.clone()));
    let judged = not_found(report).chain(report.findings.iter().map(|found| found.rule));
    let hindered = judged.filter_map(|rule| Some((rule, obstacle(case, rule)?)));
    let mut hindered: Vec<(FindingRule, String)> = hindered.collect();
    hindered.dedup();
    skipped.chain(hindered).map(|(rule, reason)| Unjudged { rule: name(rule), reason }).collect()
}

/// Returns the reason why a rule cannot be judged on this machine. Delayed acknowledgements are known by a time of 40 ms,
/// in which a node or a client without CPU time does nothing either.
fn obstacle(case: &Case, rule: FindingRule) -> Option<String> {
    let is_hindered = rule == FindingRule::DelayedAcknowledgement;
    let reason = is_hindered.then(|| starvation::cause(case)).flatten()?;
    Some(format!("{reason}; pauses of a process look like delayed acknowledgements"))
}

fn too_short(case: &Case, end: &CaptureEnd) -> String {
    format!(
        "it takes {} s; the capture has {} ({})",
        CaptureEnd::MIN_SECONDS,
        span_words(case, end),
        end.reason
    )
}

/// Returns the captured part of the check, if that is not all of it.
fn captured_span(case: &Case) -> String {
    let end = case.capture_end.as_ref();
    end.map_or_else(String::new, |end| format!(", {}", span_words(case, end)))
}

fn span_words(case: &Case, end: &CaptureEnd) -> String {
    let (captured, all) = (end.seconds, case.subject.duration.as_secs_f64());
    // The capture of a run includes its warm-up.
    if captured < all {
        format!("the first {captured:.1} s of {all:.1} s")
    } else {
        format!("the first {captured:.1} s")
    }
}

/// Leaves out connections between nodes, which are no clients. Returns nothing if the finding is about them alone.
fn without_nodes(case: &Case, found: &report::Finding) -> Option<report::Finding> {
    let is_of_nodes = |label: &String| {
        let ends = label.split_once(" -> ");
        ends.is_some_and(|(client, broker)| case.peer_between(broker, client).is_some())
    };
    let mut found = found.clone();
    let before = found.connections.len();
    found.connections.retain(|label| !is_of_nodes(label));
    found.connections_in_all -= (before - found.connections.len()) as u64;
    (before == 0 || !found.connections.is_empty()).then_some(found)
}

/// Returns the stable name of a rule about packets: `packets-zero-window`.
pub(crate) fn name(rule: FindingRule) -> String {
    let mut name = "packets".to_owned();
    for letter in format!("{rule:?}").chars() {
        if letter.is_ascii_uppercase() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn convert(case: &Case, report: &PacketReport, found: &report::Finding) -> (Finding, Option<Aim>) {
    let subjects = found.connections.iter().map(|label| subject(case, label)).collect();
    let severity = match found.severity {
        report::Severity::Note => Severity::Note,
        report::Severity::Warning => Severity::Warning,
        report::Severity::Critical => Severity::Critical,
    };
    let draft = Draft::new(severity, subjects, found.sentence.clone())
        .evidence(evidence(case, report, found))
        .advice(advice(found));
    let (finding, aim) = draft.into_finding(&name(found.rule));
    (Finding { subjects_in_all: found.connections_in_all, ..finding }, aim)
}

fn evidence(case: &Case, report: &PacketReport, found: &report::Finding) -> Evidence {
    let source = match found.source {
        SourceLevel::Sockets => Source::Sockets,
        SourceLevel::Packets | SourceLevel::Writes => Source::Packets,
    };
    let numbers: Vec<String> = found.packets.iter().map(u64::to_string).collect();
    let packets = match numbers.as_slice() {
        [] => String::new(),
        numbers => format!(" (packets {})", numbers.join(", ")),
    };
    let end = case.capture_end.as_ref();
    let span = end.map(|end| format!(", in {}: {}", span_words(case, end), end.reason));
    let figure = format!("{}{packets}{}", found.evidence, span.unwrap_or_default());
    Evidence { source, figure, at_nanos: 0, lasted_nanos: report.totals.duration_nanos }
}

/// Returns the client's own name and user for a connection on the wire, if the node knows them.
fn subject(case: &Case, label: &str) -> String {
    let known =
        case.clients.as_ref().ok().and_then(|clients| {
            clients.connections.iter().find(|connection| connection.name == label)
        });
    known.map_or_else(|| label.to_owned(), names::connection)
}
