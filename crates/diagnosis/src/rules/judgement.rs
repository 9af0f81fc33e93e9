//! The run of all rules over a case, and the order of their findings.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{draft::Aim, rule::Verdict, table::RULES, unjudged::Unjudged, wire};
use crate::{case::Case, finding::Finding};

/// The judgement of all rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Judgement {
    /// Problems: critical ones first, then warnings, then notes. Within each the largest possible gain comes first, and
    /// unknown gains come last.
    pub findings: Vec<Finding>,
    /// Subjects in which the rules found nothing, such as `prefetch of consumers`.
    pub healthy: Vec<String>,
    /// Rules that could not judge.
    pub not_judged: Vec<Unjudged>,
}

/// Judges a case by all rules.
pub fn judge(case: &Case) -> Judgement {
    let mut judgement = Judgement::default();
    let mut found: Vec<(Finding, Option<Aim>)> = Vec::new();
    for rule in RULES {
        match rule.judge(case) {
            Verdict::NotJudged(reason) => {
                judgement.not_judged.push(Unjudged { rule: rule.name.to_owned(), reason });
            }
            Verdict::Healthy => judgement.healthy.push(rule.title.to_owned()),
            Verdict::Found(drafts) => {
                found.extend(drafts.into_iter().map(|draft| draft.into_finding(rule.name)));
            }
        }
    }
    found.extend(wire::packets(case, &mut judgement.healthy, &mut judgement.not_judged));
    found.sort_by(|(one, _), (other, _)| by_rank(one, other));
    judgement.findings = with_one_change_per_setting(found);
    judgement
}

fn by_rank(one: &Finding, other: &Finding) -> Ordering {
    // An unknown gain counts as less than any known one.
    let gain = |finding: &Finding| finding.bound.as_ref().map_or(-1.0, |bound| bound.throughput);
    other.severity.cmp(&one.severity).then(gain(other).total_cmp(&gain(one)))
}

/// Removes the changes of settings that an earlier finding changes.
fn with_one_change_per_setting(found: Vec<(Finding, Option<Aim>)>) -> Vec<Finding> {
    let mut taken: Vec<(String, Aim, String)> = Vec::new();
    let resolve = |(mut finding, aim): (Finding, Option<Aim>)| {
        if let (Some(change), Some(aim)) = (finding.change.take(), aim) {
            match taken.iter().find(|(setting, ..)| *setting == change.setting) {
                None => {
                    taken.push((change.setting.clone(), aim, finding.rule.clone()));
                    finding.change = Some(change);
                }
                Some((setting, first, rule)) => {
                    finding.sentence += &reference(aim, *first, setting, rule);
                }
            }
        }
        finding
    };
    found.into_iter().map(resolve).collect()
}

/// Returns the words that replace a change.
fn reference(aim: Aim, first: Aim, setting: &str, rule: &str) -> String {
    if aim.opposes(first) {
        format!("; no change, because {rule} asks for the opposite of {setting}")
    } else {
        format!("; {rule} has the change")
    }
}
