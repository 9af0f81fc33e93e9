//! Changes of the limit, and findings that came or went.

use crate::{
    finding::{Finding, Severity},
    report::CheckReport,
};

/// Returns the changes, in words: the limit first.
pub(super) fn judgements(old: &CheckReport, new: &CheckReport) -> Vec<String> {
    let mut found = Vec::new();
    let limit = |report: &CheckReport| (report.limit.kind, report.limit.subject.clone());
    if limit(old) != limit(new) {
        found.push(format!("the limit was: {}", old.limit.sentence));
    }
    found.extend(missing(old, new).map(|finding| format!("new finding: {}", title(finding))));
    found.extend(missing(new, old).map(|finding| format!("no longer found: {}", title(finding))));
    found
}

/// Returns the findings at warning level of `here` whose rule found nothing in `there`.
fn missing<'a>(there: &'a CheckReport, here: &'a CheckReport) -> impl Iterator<Item = &'a Finding> {
    let is_missing = |finding: &&Finding| {
        let is_same = |other: &Finding| other.rule == finding.rule;
        finding.severity >= Severity::Warning && !there.findings.iter().any(is_same)
    };
    here.findings.iter().filter(is_missing)
}

fn title(finding: &Finding) -> String {
    format!("{} ({})", finding.sentence, finding.rule)
}
