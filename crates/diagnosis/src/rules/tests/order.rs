//! The order of findings, and one change for each setting.

use super::{
    cases::{change, healthy},
    rows::{consumer, process},
};
use crate::{
    finding::{Finding, Severity},
    rules::{judge, table::RULES},
};

#[test]
fn a_healthy_node_is_healthy_in_all_respects() {
    let judgement = judge(&healthy());
    assert!(judgement.findings.is_empty(), "{:?}", judgement.findings);
    assert!(judgement.not_judged.is_empty(), "{:?}", judgement.not_judged);
    assert!(judgement.healthy.len() == RULES.len() + 1, "{:?}", judgement.healthy);
}

#[test]
fn nothing_is_judged_without_reading() {
    let case = crate::Case::unread(crate::Subject::default());
    let judgement = judge(&case);
    assert!(judgement.findings.is_empty() && judgement.healthy.is_empty(), "{judgement:?}");
    assert_eq!(judgement.not_judged.len(), RULES.len() + 1);
}

#[test]
fn the_worst_and_most_promising_come_first() {
    let mut case = healthy();
    change(&mut case.broker, |broker| {
        broker.alarms = vec!["memory".to_owned()];
        broker.rates.redelivered = Some(1_500.0);
        broker.traced_vhosts = vec!["/".to_owned()];
    });
    change(&mut case.host, |host| {
        host.steal_share = 0.15;
        host.own_cores = 0.5;
    });
    let found = judge(&case).findings;
    let names: Vec<&str> = found.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(names, ["memory-alarm", "redeliveries", "steal", "tracing", "own-load"]);
}

#[test]
fn the_second_finding_about_a_setting_names_the_first() {
    let mut case = healthy();
    change(&mut case.clients, |clients| {
        let mut slow = consumer("slow", "orders");
        slow.prefetch = Some(1);
        slow.unacknowledged = 1;
        let mut greedy = consumer("greedy", "orders");
        greedy.prefetch = Some(0);
        greedy.unacknowledged = 60_000;
        clients.channels.extend([slow, greedy]);
    });
    change(&mut case.queues, |queues| {
        queues.rows[0].ready = 10_000;
        queues.rows[0].consumer_capacity = Some(0.1);
    });
    let found = judge(&case).findings;
    let [first, second] = &found[..] else { panic!("{found:?}") };
    assert_eq!((first.rule.as_str(), second.rule.as_str()), ("low-prefetch", "unacknowledged"));
    assert!(first.change.is_some() && second.change.is_none());
    assert!(second.sentence.ends_with("; low-prefetch has the change"), "{second:?}");
}

#[test]
fn subjects_are_counted_and_the_first_ten_named() {
    let mut case = healthy();
    change(&mut case.clients, |clients| {
        let greedy = |index: u64| {
            let mut channel = consumer(&format!("greedy-{index}"), "orders");
            channel.prefetch = Some(0);
            channel.unacknowledged = 3_000 + index;
            channel
        };
        clients.channels.extend((0..30).map(greedy));
    });
    let found = judge(&case).findings;
    let [Finding { subjects, subjects_in_all, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((subjects.len(), *subjects_in_all), (10, 30));
    assert!(subjects[0].starts_with("greedy-29"), "{subjects:?}");
}

#[test]
fn a_judgement_survives_serialisation() {
    let mut case = healthy();
    change(&mut case.cpu, |cpu| cpu.processes.push(process("reader", "r", 0.95)));
    let judgement = judge(&case);
    assert_eq!(judgement.findings[0].severity, Severity::Warning);
    let text = serde_json::to_string(&judgement).unwrap();
    assert_eq!(serde_json::from_str::<crate::rules::Judgement>(&text).unwrap(), judgement);
    assert!(text.contains("\"not-judged\":[]"), "{text}");
}
