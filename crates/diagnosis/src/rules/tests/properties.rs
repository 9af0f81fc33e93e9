//! Properties of all judgements, over random cases.

use std::collections::{BTreeMap, BTreeSet};

use super::random::{HOSTILE, Random};
use crate::{
    finding::Finding,
    rules::{attribute, draft::Aim, judge, rule::Verdict, table::RULES, wire},
};

/// Number of random cases.
const CASES: u64 = 4_000;

#[track_caller]
fn check(finding: &Finding) {
    if let Some(bound) = &finding.bound {
        assert!(bound.throughput.is_finite() && bound.throughput >= 0.0, "{finding:?}");
    }
    assert!(finding.subjects.len() <= 10, "{finding:?}");
    assert!(
        finding.subjects_in_all >= finding.subjects.len() as u64
            || finding.rule.starts_with("packets")
    );
    let mut texts = vec![&finding.sentence];
    texts.extend(finding.evidence.iter().map(|row| &row.figure));
    texts.extend(finding.change.iter().flat_map(|change| {
        [Some(&change.setting), Some(&change.sentence), change.text.as_ref()].into_iter().flatten()
    }));
    for text in texts {
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}

#[test]
fn no_case_panics_and_no_figure_is_no_number() {
    let mut random = Random::new(1);
    let mut seen = BTreeSet::new();
    for _ in 0..CASES {
        let judgement = judge(&random.case());
        judgement.findings.iter().for_each(check);
        seen.extend(judgement.findings.into_iter().map(|finding| finding.rule));
        let open = judgement.not_judged.iter().filter(|row| !row.rule.starts_with("packets"));
        assert!(open.count() + judgement.healthy.len() <= RULES.len() + 1);
    }
    let unseen: Vec<&str> =
        RULES.iter().map(|rule| rule.name).filter(|name| !seen.contains(*name)).collect();
    assert!(unseen.is_empty(), "no case shows {unseen:?}");
}

#[test]
fn one_finding_changes_a_setting() {
    let mut random = Random::new(2);
    for _ in 0..CASES {
        let judgement = judge(&random.case());
        let mut settings = BTreeSet::new();
        for change in judgement.findings.iter().filter_map(|finding| finding.change.as_ref()) {
            assert!(settings.insert(change.setting.clone()), "two change {}", change.setting);
            assert!(!change.sentence.is_empty() && !change.cost.is_empty(), "{change:?}");
        }
    }
}

/// Two rules never ask for opposite directions of a setting in one case. Remedies for packets are for single clients:
/// there the later one loses its change.
#[test]
fn rules_do_not_contradict_each_other() {
    let mut random = Random::new(3);
    for _ in 0..CASES {
        let case = random.case();
        let mut aims: BTreeMap<String, Aim> = BTreeMap::new();
        for rule in RULES {
            let Verdict::Found(drafts) = rule.judge(&case) else { continue };
            for draft in drafts {
                let (finding, aim) = draft.into_finding(rule.name);
                let (Some(change), Some(aim)) = (finding.change, aim) else { continue };
                let first = *aims.entry(change.setting.clone()).or_insert(aim);
                assert!(!aim.opposes(first), "{}: {}", rule.name, change.setting);
            }
        }
        let packets = wire::packets(&case, &mut Vec::new(), &mut Vec::new());
        let opposing = packets.iter().any(|(finding, aim)| {
            let setting = &finding.change.as_ref().unwrap().setting;
            aims.get(setting).is_some_and(|first| aim.unwrap().opposes(*first))
        });
        assert!(!opposing);
    }
}

#[test]
fn critical_findings_come_first_and_large_gains_before_small_ones() {
    let mut random = Random::new(4);
    for _ in 0..CASES {
        let findings = judge(&random.case()).findings;
        for pair in findings.windows(2) {
            let gain = |finding: &Finding| finding.bound.as_ref().map(|bound| bound.throughput);
            assert!(pair[0].severity >= pair[1].severity);
            if pair[0].severity == pair[1].severity {
                assert!(gain(&pair[0]) >= gain(&pair[1]), "{pair:?}");
            }
        }
    }
}

#[test]
fn names_of_others_are_unchanged() {
    let mut random = Random::new(5);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..CASES {
        for finding in judge(&random.case()).findings {
            for subject in finding.subjects {
                seen.extend(HOSTILE.iter().copied().filter(|name| subject.contains(*name)));
            }
        }
    }
    assert_eq!(seen.len(), HOSTILE.len(), "{seen:?}");
}

#[test]
fn parts_of_a_process_are_the_whole() {
    let mut random = Random::new(6);
    for _ in 0..CASES {
        for shared in attribute(&random.case()) {
            let sum = shared.queues.iter().map(|share| share.cores).sum::<f64>() + shared.rest;
            assert!((sum - shared.cores).abs() < 1e-9, "{shared:?}");
            assert!(shared.queues.iter().all(|share| share.cores >= 0.0), "{shared:?}");
        }
    }
}
