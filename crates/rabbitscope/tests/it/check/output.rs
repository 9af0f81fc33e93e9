//! Exit codes, hostile names, and answers without any right.

use std::fs;

use rabbitscope_testing::{
    Ends, Stops, Workbench, is_root, node_options, own_broker, plant,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;
use serde_json::Value;

use super::limits::{check, text};
use crate::safety::terminals::{HOSTILE, SHOWN, harmless};

#[test]
fn an_idle_node_has_no_warning() {
    let (bench, broker) = (Workbench::new("check-idle"), own_broker());
    let report = check(&bench, &broker);
    // Other brokers and tests share the machine.
    let of_others = ["neighbours", "shared-cores", "own-load", "cpu-throttled"];
    let is_of_node = |finding: &&Value| !of_others.contains(&text(finding, "rule"));
    let is_warning = |finding: &&Value| finding["severity"] != "note";
    let findings = report["findings"].as_array().unwrap().iter();
    let warnings: Vec<_> = findings.filter(is_of_node).filter(is_warning).collect();
    assert!(warnings.is_empty() && report["not-judged"].is_array(), "{warnings:#?}");
    let limit = &report["limit"];
    assert!(["certain", "likely", "uncertain"].contains(&text(limit, "certainty")), "{limit:#}");
}

/// The consumer is too slow for the queue, so that its name belongs to the answer.
#[test]
fn names_are_text() {
    let (bench, broker) = (Workbench::new("check-names"), own_broker());
    let scenario = Scenario::new("names")
        .duration("5m")
        .queues(Queue::new(HOSTILE))
        .publishers(Publishers::new(HOSTILE).rate(200))
        .consumers(Consumers::new(HOSTILE).prefetch(10).processing_time("50ms"));
    let load = bench.start_run(&broker, scenario, 5);
    let node = node_options(&broker);
    harmless(bench.rabbitscope(&format!("check --duration 5s {node}")), SHOWN);
    let json = bench.rabbitscope(&format!("check --duration 5s --json {node}"));
    let json = harmless(json, r"\u001b]0;owned\u0007\u001b[2J\u009b2J\u202ey");
    assert!(json.json().to_string().contains("owned"));
    harmless(load.ended_by(Signal::INT), "limit  ");
    // The limit of the page has the escaped name, in JSON.
    let page = bench.read("out/report.html");
    let limit = page.split(r#""limit":{"#).nth(1).unwrap().split(r#""figures":"#).next().unwrap();
    assert!(!limit.contains(['\u{202e}', '\u{9b}']), "{limit}");
}

/// A name that a page, a shell, a terminal or a table could obey.
const NAME: &str = "<script>alert(\"1\")</script>'; $(reboot)\n\x1b[2J\u{202e}end";

/// Returns the texts of a JSON value, keys left out.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// A queue, its clients and a virtual host have this name. The virtual host has tracing, which names it.
#[test]
fn names_of_all_kinds_are_text() {
    let (bench, broker) = (Workbench::new("check-all-names"), own_broker().take());
    let points: Vec<String> = NAME.chars().map(|c| u32::from(c).to_string()).collect();
    let name = format!("unicode:characters_to_binary([{}])", points.join(","));
    plant(
        &broker,
        &format!("N = {name}, rabbit_vhost:add(N, <<\"test\">>), rabbit_trace:start(N), ok"),
    );
    // RabbitMQ takes line ends out of the names of queues that it declares.
    let queue = NAME.replace('\n', "");
    let scenario = Scenario::new("names")
        .duration("5m")
        .queues(Queue::new(&queue))
        .publishers(Publishers::new(&queue).name(NAME).rate(200))
        .consumers(Consumers::new(&queue).name(NAME).prefetch(10).processing_time("50ms"));
    let load = bench.start_run(&broker, scenario, 5);

    let node = node_options(&broker);
    let shown = harmless(bench.rabbitscope(&format!("check --duration 5s {node}")), r"\u{202e}end");
    assert!(shown.stdout.lines().count() <= 40, "{shown:#?}");
    let json = bench.rabbitscope(&format!("check --duration 5s --json {node}"));
    let report = harmless(json, r"\n\u001b[2J\u202eend").json();
    let of_limit = texts(&report["limit"]).iter().any(|text| text.contains(NAME));
    assert!(of_limit, "{:#}", report["limit"]);
    let traced = |finding: &&Value| finding["rule"] == "tracing" && finding["subjects"][0] == NAME;
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().find(traced).is_some(), "{findings:#?}");
    load.ended_by(Signal::INT);
}

/// Other files are refused before the node is asked for anything.
#[test]
fn a_baseline_that_is_no_saved_check_is_wrong_usage() {
    let bench = Workbench::new("check-baseline");
    let write = |name: &str, text: &str| fs::write(bench.path(name), text).unwrap();
    write("empty.json", "");
    write("cluster.json", r#"{"node": "a@b", "nodes": [], "missing": []}"#);
    write("run.json", r#"{"format-version": 1, "scenario": {"name": "x"}}"#);
    write("later.json", r#"{"format-version": 2}"#);
    fs::File::create(bench.path("huge.json")).unwrap().set_len(2 << 30).unwrap();
    fs::create_dir(bench.path("folder")).unwrap();
    let words = [
        ("empty.json", "it is empty"),
        ("cluster.json", "it is the check of a cluster"),
        ("run.json", "it is the record of a run"),
        ("later.json", "has format version 2"),
        ("huge.json", "save one with"),
        ("folder", "save one with"),
        ("missing.json", "save one with"),
    ];
    for (name, reason) in words {
        let ended = bench.rabbitscope(&format!("check --baseline {name} --node nobody@localhost"));
        let said = ended.code(2).stderr;
        assert!(said.contains(name) && said.contains(reason), "{name}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
}

/// A user without the cookie and without any capability.
#[test]
fn a_stranger_is_told_what_is_missing() {
    if !is_root() {
        return;
    }
    let (bench, broker) = (Workbench::new("check-stranger"), own_broker());
    let copy = bench.path("rabbitscope");
    fs::copy(rabbitscope_testing::program(), &copy).unwrap();
    bench.command_line("chmod 755 . tmp rabbitscope").ended().code(0);
    let arguments = format!("check --pid {} --duration 3s --json", broker.pid);
    let stranger = "timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups";
    let mut command = bench.command_line(&format!("{stranger} {} {arguments}", copy.display()));
    let ended = command.env("HOME", bench.path("nowhere")).ended().code(0);
    let report = ended.json();
    let missing = report["not-judged"].to_string();
    assert!(missing.contains("cookie"), "{report:#}");
    assert!(missing.contains("root") || missing.contains("CAP_"), "{report:#}");
    assert_ne!(report["limit"]["certainty"], "certain", "{report:#}");
}
