//! A rule: its input, its findings, and the limits of its judgement.

use super::{
    advice::Advice,
    hit::{Case, Hit},
    minimum::Minimum,
};
use crate::report::{Finding, FindingRule, PacketReport, SourceLevel};

/// Maximum of connections, and of packets, that a finding names.
const MAX_NAMED: usize = 10;

/// A rule.
pub(super) struct Rule {
    pub(super) name: FindingRule,
    /// Sources. Without at least one of them the rule cannot find anything.
    pub(super) sources: &'static [SourceLevel],
    /// The least evidence; below it the rule does not judge.
    pub(super) minimum: Minimum,
    /// Returns the reason why no connection can be judged, if any.
    pub(super) obstacle: fn(&PacketReport) -> Option<&'static str>,
    /// Returns the connections that the rule concerns, with the evidence of each.
    pub(super) cases: fn(&PacketReport) -> Vec<Case>,
}

impl Rule {
    pub(super) const fn new(
        name: FindingRule,
        sources: &'static [SourceLevel],
        minimum: Minimum,
        cases: fn(&PacketReport) -> Vec<Case>,
    ) -> Self {
        Self { name, sources, minimum, obstacle: |_| None, cases }
    }

    pub(super) const fn unless(self, obstacle: fn(&PacketReport) -> Option<&'static str>) -> Self {
        Self { obstacle, ..self }
    }

    /// Returns the findings, or the reason why the rule does not judge.
    pub(super) fn judge(&self, report: &PacketReport) -> Result<Vec<Finding>, String> {
        if !self.sources.iter().any(|level| is_there(report, *level)) {
            let names: Vec<&str> = self.sources.iter().map(|level| name(*level)).collect();
            return Err(format!("{} were not seen", names.join(" and ")));
        }
        if let Some(reason) = (self.obstacle)(report) {
            return Err(reason.to_owned());
        }
        let (enough, few): (Vec<Case>, Vec<Case>) =
            (self.cases)(report).into_iter().partition(|case| self.minimum.is_reached(case));
        let is_judged = !enough.is_empty();
        let hits: Vec<Hit> = enough.into_iter().filter_map(|case| case.hit).collect();
        let is_suspect = few.iter().any(|case| case.hit.is_some());
        if hits.is_empty() && (is_suspect || !is_judged) {
            return Err(self.minimum.shortfall(&few));
        }
        Ok(self.findings(hits))
    }

    /// Returns one finding for each advice.
    fn findings(&self, mut hits: Vec<Hit>) -> Vec<Finding> {
        hits.sort_by(|one, other| {
            other.severity.cmp(&one.severity).then(other.weight.total_cmp(&one.weight))
        });
        let mut advices: Vec<Advice> = Vec::new();
        for hit in &hits {
            if !advices.contains(&hit.advice) {
                advices.push(hit.advice);
            }
        }
        let of = |advice: &Advice| -> Vec<&Hit> {
            hits.iter().filter(|hit| hit.advice == *advice).collect()
        };
        advices.iter().filter_map(|advice| self.finding(advice, &of(advice))).collect()
    }

    fn finding(&self, advice: &Advice, hits: &[&Hit]) -> Option<Finding> {
        let worst = hits.first()?;
        let mut connections: Vec<String> = Vec::new();
        // A connection with the symptom in both directions counts once.
        for connection in hits.iter().flat_map(|hit| &hit.connections) {
            if !connections.contains(connection) {
                connections.push(connection.clone());
            }
        }
        let named = connections.len() as u64;
        let unnamed = |hit: &Hit| hit.connections_in_all - hit.connections.len() as u64;
        let unnamed: u64 = hits.iter().map(|hit| unnamed(hit)).sum();
        connections.truncate(MAX_NAMED);
        Some(Finding {
            rule: self.name,
            severity: worst.severity,
            source: worst.source,
            sentence: advice.sentence.to_owned(),
            evidence: worst.evidence.clone(),
            fix: advice.fix.to_owned(),
            connections,
            connections_in_all: named + unnamed,
            packets: worst.packets.iter().copied().take(MAX_NAMED).collect(),
        })
    }
}

/// Returns whether a source has any data. A report lists its sources only when it is complete.
fn is_there(report: &PacketReport, level: SourceLevel) -> bool {
    let is_told = report.sources.iter().any(|source| source.level == level && source.present);
    match level {
        SourceLevel::Sockets => is_told || !report.sockets.is_empty(),
        SourceLevel::Packets => report.capture.is_some() && report.totals.segments > 0,
        SourceLevel::Writes => is_told,
    }
}

const fn name(level: SourceLevel) -> &'static str {
    match level {
        SourceLevel::Sockets => "sockets",
        SourceLevel::Packets => "TCP segments",
        SourceLevel::Writes => "writes",
    }
}
