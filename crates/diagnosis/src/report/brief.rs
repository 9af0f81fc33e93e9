//! The limit and the worst findings in a few lines, for the head of a longer text or of a page.

use std::fmt;

use rabbitscope_text::{counted, escapes};
use serde::Serialize;

use super::{
    CheckReport,
    text::{gain, sentence},
};
use crate::{
    case::Unread,
    finding::{Finding, Severity},
    limit::{Certainty, LimitKind},
};

/// Findings that the text shows.
const SHOWN: usize = 2;

/// Findings that a page shows.
const MAX_FINDINGS: usize = 10;

/// The limit, the findings that cost something now, and the amount of rules without a judgement. Control characters
/// and marks of direction are escaped in every text, so that foreign names stay on their line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Brief {
    /// Kind of the limit.
    pub kind: LimitKind,
    /// Certainty of the limit.
    pub certainty: Certainty,
    /// The limit with its certainty, in a sentence.
    pub limit: String,
    /// The figures behind the limit.
    pub evidence: Vec<String>,
    /// Warnings and critical findings, the most rewarding first, at most ten.
    pub findings: Vec<BriefFinding>,
    /// Number of warnings and critical findings that are left out.
    pub more_findings: u64,
    /// Number of rules that could not judge, with the reason; empty if all did.
    pub not_judged: String,
}

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BriefFinding {
    /// Stable name of the rule.
    pub rule: String,
    /// The severity.
    pub severity: Severity,
    /// The problem, in a sentence.
    pub sentence: String,
    /// The figures behind it, in one text; empty without any.
    pub evidence: String,
    /// The change, with the upper bound of its gain; empty if only the evidence can be given.
    pub change: String,
}

impl Brief {
    /// Shortens the result of a check.
    pub fn from_report(report: &CheckReport) -> Self {
        let is_costly = |finding: &&Finding| finding.severity >= Severity::Warning;
        let costly: Vec<&Finding> = report.findings.iter().filter(is_costly).collect();
        let figures = report.limit.evidence.iter().map(|one| single(&one.figure));
        Self {
            kind: report.limit.kind,
            certainty: report.limit.certainty,
            limit: sentence(&report.limit),
            evidence: figures.collect(),
            findings: costly.iter().take(MAX_FINDINGS).map(|finding| brief(finding)).collect(),
            more_findings: costly.len().saturating_sub(MAX_FINDINGS) as u64,
            not_judged: not_judged(report.not_judged.len(), &report.unread),
        }
    }
}

fn brief(finding: &Finding) -> BriefFinding {
    let figures: Vec<String> = finding.evidence.iter().map(|one| single(&one.figure)).collect();
    let change = finding.change.as_ref().map(|change| {
        let gain = finding.bound.as_ref().map_or_else(String::new, gain);
        single(&change.sentence) + &gain
    });
    BriefFinding {
        rule: finding.rule.clone(),
        severity: finding.severity,
        sentence: single(&finding.sentence),
        evidence: figures.join("; "),
        change: change.unwrap_or_default(),
    }
}

fn not_judged(rules: usize, unread: &[Unread]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for part in unread {
        if !sources.contains(&part.source.name()) {
            sources.push(part.source.name());
        }
    }
    let rules = match rules {
        0 => return String::new(),
        rules => counted(rules as u64, "rule"),
    };
    match &sources[..] {
        [] => format!("{rules}, because the evidence does not suffice"),
        sources => format!("{rules}, because these were not read: {}", sources.join(", ")),
    }
}

fn single(text: &str) -> String {
    escapes::value(text).into_owned()
}

/// Seven lines at most, each with its line end.
impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "limit     {}", self.limit)?;
        for finding in self.findings.iter().take(SHOWN) {
            writeln!(f, "{:<9} {} [{}]", finding.severity.name(), finding.sentence, finding.rule)?;
            if !finding.change.is_empty() {
                writeln!(f, "          change  {}", finding.change)?;
            }
        }
        match self.findings.len().saturating_sub(SHOWN) as u64 + self.more_findings {
            0 => {}
            more => writeln!(f, "          {}", counted(more, "more finding"))?,
        }
        match self.not_judged.as_str() {
            "" => Ok(()),
            not_judged => writeln!(f, "not judged  {not_judged}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        case::{Case, Source, Subject},
        finding::{Bound, Change, Evidence},
    };

    fn report(findings: usize) -> CheckReport {
        let subject = Subject { duration: Duration::from_secs(15), ..Subject::default() };
        let finding = |number: usize| Finding {
            rule: format!("rule-{number}"),
            severity: if number == 0 { Severity::Note } else { Severity::Warning },
            subjects: Vec::new(),
            subjects_in_all: 0,
            sentence: "the queue \u{202e}<script>\n is \"slow\"".to_owned(),
            evidence: vec![Evidence {
                source: Source::Node,
                figure: "7 messages".to_owned(),
                at_nanos: 0,
                lasted_nanos: 0,
            }],
            change: Some(Change {
                setting: format!("setting-{number}"),
                sentence: "use more".to_owned(),
                text: None,
                cost: "memory".to_owned(),
            }),
            bound: Some(Bound { throughput: 0.1, reason: "it waits 9 %".to_owned() }),
            experiment: None,
        };
        let findings = (0..findings).map(finding).collect();
        CheckReport { findings, ..CheckReport::from_case(&Case::unread(subject)) }
    }

    #[test]
    fn a_brief_text_has_seven_lines_at_most() {
        let text = Brief::from_report(&report(20)).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines[0].starts_with("limit     cannot tell, because neither"), "{text}");
        assert_eq!(lines[1], "warning   the queue \\u{202e}<script>\\n is \"slow\" [rule-1]");
        assert_eq!(lines[2], "          change  use more (at most 10 % more: it waits 9 %)");
        assert_eq!(lines[5], "          17 more findings");
        assert!(lines[6].contains("these were not read: the node, CPU samples, "), "{text}");
    }

    #[test]
    fn notes_are_left_out() {
        let brief = Brief::from_report(&report(1));
        assert!(brief.findings.is_empty() && brief.more_findings == 0);
        assert_eq!(brief.to_string().lines().count(), 2);
        let many = Brief::from_report(&report(20));
        assert_eq!((many.findings.len(), many.more_findings), (10, 9));
        assert_eq!(many.findings[0].evidence, "7 messages");
    }
}
