//! Checks of one rule: planted, healthy, on too little evidence.

use super::cases::{healthy, shorten};
use crate::{
    case::{Case, Source, Unread},
    finding::{Finding, Severity},
    rules::{
        rule::{Need, Rule, Verdict},
        table::RULES,
    },
};

/// Returns a rule by its name.
pub(super) fn rule(name: &str) -> &'static Rule {
    RULES.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule {name}"))
}

/// Returns the findings of a rule.
#[track_caller]
pub(super) fn found(name: &str, case: &Case) -> Vec<Finding> {
    match rule(name).judge(case) {
        Verdict::Found(drafts) => {
            drafts.into_iter().map(|draft| draft.into_finding(name).0).collect()
        }
        verdict => panic!("{name}: {verdict:?}"),
    }
}

/// Checks that a rule finds a planted problem and names its subject, and does not judge it in a short time or without
/// its parts.
#[track_caller]
pub(super) fn check(
    name: &str,
    severity: Severity,
    subject: &str,
    plant: impl Fn(&mut Case),
) -> Finding {
    check_healthy(name, |_| {});
    let mut case = healthy();
    plant(&mut case);
    let found = found(name, &case);
    let first = found.first().expect("a finding").clone();
    assert_eq!(first.severity, severity, "{first:?}");
    assert!(first.subjects.iter().any(|named| named.contains(subject)), "{first:?}");
    assert!(!first.sentence.is_empty() && !first.evidence.is_empty(), "{first:?}");
    check_too_little(name, &case);
    first
}

#[track_caller]
fn check_too_little(name: &str, planted: &Case) {
    let rule = rule(name);
    if rule.minimum.seconds > 0 {
        let mut short = planted.clone();
        shorten(&mut short);
        assert_not_judged(rule, &short);
    }
    for need in rule.needs {
        let mut lacking = planted.clone();
        take(&mut lacking, *need);
        assert_not_judged(rule, &lacking);
    }
}

#[track_caller]
fn assert_not_judged(rule: &Rule, case: &Case) {
    let verdict = rule.judge(case);
    let Verdict::NotJudged(reason) = &verdict else { panic!("{}: {verdict:?}", rule.name) };
    assert!(!reason.is_empty());
}

/// Checks that a rule judges a case and finds nothing.
#[track_caller]
pub(super) fn check_healthy(name: &str, change: impl Fn(&mut Case)) {
    let mut case = healthy();
    change(&mut case);
    let verdict = rule(name).judge(&case);
    assert!(matches!(verdict, Verdict::Healthy), "{name}: {verdict:?}");
}

/// Checks that a rule does not judge a case, for a reason with this word.
#[track_caller]
pub(super) fn check_unjudged(name: &str, word: &str, change: impl Fn(&mut Case)) {
    let mut case = healthy();
    change(&mut case);
    match rule(name).judge(&case) {
        Verdict::NotJudged(reason) => assert!(reason.contains(word), "{name}: {reason}"),
        verdict => panic!("{name}: {verdict:?}"),
    }
}

/// Removes a part.
pub(super) fn take(case: &mut Case, need: Need) {
    let unread = Unread::new(Source::Node);
    match need {
        Need::Broker => case.broker = Err(unread),
        Need::Vm | Need::Looks => case.vm = Err(unread),
        Need::Queues => case.queues = Err(unread),
        Need::Clients => case.clients = Err(unread),
        Need::Flow => case.flow = Err(unread),
        Need::Cpu => case.cpu = Err(unread),
        Need::Waits => case.waits = Err(unread),
        Need::Host => case.host = Err(unread),
    }
}

/// Returns the text of a finding's change.
pub(super) fn text(finding: &Finding) -> &str {
    finding.change.as_ref().and_then(|change| change.text.as_deref()).unwrap_or("")
}
