//! The run of all rules over a report: findings, worst first, and rules that could not judge.

use std::cmp::Reverse;

use super::table::RULES;
use crate::report::{Finding, FindingRule, NotJudged, PacketReport};

/// Judges the report. Sets its findings, worst first, and the rules that could not judge, each with the reason.
pub fn judge(report: &mut PacketReport) {
    let (mut findings, mut not_judged) = (Vec::new(), Vec::new());
    for rule in &RULES {
        match rule.judge(report) {
            Ok(found) => findings.extend(found),
            Err(reason) => not_judged.push(NotJudged { rule: rule.name, reason }),
        }
    }
    findings.sort_by_key(|finding: &Finding| Reverse(finding.severity));
    (report.findings, report.not_judged) = (findings, Some(not_judged));
}

/// Returns the rules that judged and found nothing. Reports of earlier versions do not record this, so they yield none.
pub fn not_found(report: &PacketReport) -> impl Iterator<Item = FindingRule> {
    let not_judged = report.not_judged.as_deref();
    let names = RULES.iter().map(|rule| rule.name).filter(move |_| not_judged.is_some());
    let is_open = move |name: FindingRule| {
        not_judged.is_some_and(|rules| rules.iter().any(|skipped| skipped.rule == name))
            || report.findings.iter().any(|finding| finding.rule == name)
    };
    names.filter(move |name| !is_open(*name))
}
