//! Planted limits. `make bench-check` has many more.
//!
//! Other tests take CPU time meanwhile. Then the host limits the node in truth, so an answer is repeated, and the planted
//! limit may be the second one. No answer may be wrong with certainty.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Stops, Workbench, broker_with, node_options, own_broker,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;
use serde_json::Value;

/// Number of answers, one of which must name the limit.
const ANSWERS: usize = 5;

/// Limits that other tests can cause.
const OF_THE_MACHINE: [&str; 3] = ["host", "schedulers", "unknown"];

pub(super) fn check(bench: &Workbench, broker: &Broker) -> Value {
    let ended = bench.rabbitscope(&format!("check --duration 5s --json {}", node_options(broker)));
    ended.code(0).json()
}

pub(super) fn text<'a>(limit: &'a Value, key: &str) -> &'a str {
    limit[key].as_str().unwrap_or_else(|| panic!("`{key}` is no text: {limit:#}"))
}

/// Asserts that an answer has one of these kinds, and that no answer before it is wrong with certainty.
#[track_caller]
fn assert_limit(bench: &Workbench, broker: &Broker, kinds: &[&str], subjects: &[&str]) {
    let mut answers = Vec::new();
    for _ in 0..ANSWERS {
        let mut limit = check(bench, broker)["limit"].take();
        let is_starved = limit["kind"] == "host" && !limit["runner-up"].is_null();
        if is_starved && kinds.contains(&text(&limit["runner-up"], "kind")) {
            limit = limit["runner-up"].take();
        }
        let (kind, subject) = (text(&limit, "kind"), limit["subject"].as_str().unwrap_or_default());
        if kinds.contains(&kind) {
            let is_named =
                subjects.is_empty() || subjects.iter().any(|name| subject.contains(name));
            assert!(is_named, "none of {subjects:?} is in `{subject}`: {limit:#}");
            return;
        }
        let is_wrong = !OF_THE_MACHINE.contains(&kind);
        assert!(!is_wrong || text(&limit, "certainty") != "certain", "wrong: {limit:#}");
        answers.push(limit);
    }
    panic!("none of {kinds:?}: {answers:#?}");
}

/// Makes a queue whose process routes each message again: every message expires at once, and its dead letter passes an
/// exchange with many bindings.
pub(crate) fn dead_letters() -> Scenario {
    const LETTERS: &str = r#"
        [[exchanges]]
        name = "checked-dead"
        type = "headers"
        durable = false
        [[queues]]
        name = "checked-full"
        arguments = { x-message-ttl = 0, x-dead-letter-exchange = "checked-dead" }
        [[queues]]
        name = "checked-dead-{}"
        to = 100
        bindings = [{ exchange = "checked-dead", arguments = { x-match = "all", number = "{}" } }]
    "#;
    Scenario::new("dead-letters")
        .duration("5m")
        .publishers(Publishers::new("checked-full").count(2).connections(2))
        .text(LETTERS)
}

#[test]
fn a_queue_that_takes_a_core_is_named() {
    let (bench, broker) = (Workbench::new("check-queue"), own_broker());
    let load = bench.start_run(&broker, dead_letters(), 3);
    assert_limit(&bench, &broker, &["process"], &["checked-full"]);
    load.ended_by(Signal::INT);
}

#[test]
fn slow_consumers_are_named() {
    let (bench, broker) = (Workbench::new("check-consumer"), own_broker());
    let scenario = Scenario::with_queue("checked-slow")
        .duration("5m")
        .publishers(Publishers::new("checked-slow").rate(200))
        .consumers(Consumers::new("checked-slow").prefetch(20).processing_time("20ms"));
    let load = bench.start_run(&broker, scenario, 5);
    assert_limit(&bench, &broker, &["consumers"], &["checked-slow", "consumers"]);
    load.ended_by(Signal::INT);
}

#[test]
fn polling_that_falls_behind_is_named() {
    let (bench, broker) = (Workbench::new("check-polling"), own_broker());
    let scenario = Scenario::with_queue("checked-polled")
        .duration("5m")
        .publishers(Publishers::new("checked-polled").rate(300))
        .consumers(Consumers::new("checked-polled").polling(true).poll_interval("10ms"));
    let load = bench.start_run(&broker, scenario, 3);
    assert_limit(&bench, &broker, &["consumers"], &["checked-polled"]);
    load.ended_by(Signal::INT);
}

#[test]
fn a_low_rate_is_no_limit_of_the_node() {
    let (bench, broker) = (Workbench::new("check-rate"), own_broker());
    let scenario = Scenario::with_queue("checked-idle")
        .duration("5m")
        .publishers(Publishers::new("checked-idle").rate(50).confirm_window(100))
        .consumers(Consumers::new("checked-idle").prefetch(100));
    let load = bench.start_run(&broker, scenario, 3);
    assert_limit(&bench, &broker, &["publishers", "nothing"], &[]);
    load.ended_by(Signal::INT);
}

#[test]
fn an_alarm_comes_first() {
    let bench = Workbench::new("check-alarm");
    let config = "vm_memory_high_watermark.absolute = 20MB\n";
    let broker = broker_with(|spec| config.clone_into(&mut spec.config));
    let scenario = Scenario::new("blocked")
        .duration("5m")
        .queues(Queue::new("checked-blocked"))
        .publishers(Publishers::new("checked-blocked"));
    let load = bench.start_run(&broker, scenario, 1);
    let report = check(&bench, &broker);
    assert_eq!(report["limit"]["kind"], "alarm", "{report:#}");
    assert!(text(&report["limit"], "sentence").contains("memory"), "{report:#}");

    for severity in ["warning", "critical"] {
        let fails = format!("check --duration 3s --fail-on {severity} {}", node_options(&broker));
        let said = bench.rabbitscope(&fails).code(3).stdout;
        assert!(said.contains("memory"), "{said}");
    }
    load.ended_by(Signal::INT);
}
