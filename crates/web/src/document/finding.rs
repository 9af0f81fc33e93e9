//! Findings about packets as the page shows them.

use rabbitscope_text::{counted, grouped};
use rabbitscope_wire::report::{Finding, Severity, SourceLevel};
use serde::Serialize;

use crate::checks::sentence;

/// A finding as the page shows it.
#[derive(Serialize)]
pub(crate) struct FindingData {
    severity: &'static str,
    sentence: String,
    evidence: String,
    source: &'static str,
    fix: String,
    /// Number of connections such as `3 connections`.
    connections: String,
    /// The worst connections, and the first packets as a filter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
}

impl FindingData {
    /// Creates a finding in short.
    pub(crate) fn new(finding: &Finding) -> Self {
        Self {
            severity: severity(finding.severity),
            sentence: sentence(&finding.sentence),
            evidence: sentence(&finding.evidence),
            source: source(finding.source),
            fix: sentence(&finding.fix),
            connections: counted(finding.connections_in_all, "connection"),
            places: Vec::new(),
        }
    }

    /// Creates a finding with the connections and packets that show it.
    pub(crate) fn with_places(finding: &Finding) -> Self {
        let more = finding.connections_in_all.saturating_sub(finding.connections.len() as u64);
        let more = (more > 0).then(|| format!("and {} more", grouped(more)));
        let packets = (!finding.packets.is_empty()).then(|| {
            let numbers = finding.packets.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            // Wireshark and tshark accept it unchanged.
            format!("frame.number in {{{numbers}}}")
        });
        let places = finding.connections.iter().cloned().chain(more).chain(packets).collect();
        let in_all = finding.connections_in_all.max(finding.connections.len() as u64);
        Self { connections: counted(in_all, "connection"), places, ..Self::new(finding) }
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

pub(crate) fn source(level: SourceLevel) -> &'static str {
    match level {
        SourceLevel::Sockets => "sockets",
        SourceLevel::Packets => "packets",
        SourceLevel::Writes => "writes and reads",
    }
}
