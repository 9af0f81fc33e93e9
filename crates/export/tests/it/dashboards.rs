//! `deploy/grafana`: the dashboards query all existing metrics and no others, by existing labels.

use std::{collections::BTreeSet, fs, path::Path};

use rabbitscope_export::catalog;
use serde_json::Value;

/// Labels that a dashboard may group or select by: labels of nodes, of values, and of a scrape.
const LABELS: [&str; 15] = [
    "alarm",
    "certainty",
    "cluster",
    "exporter",
    "instance",
    "job",
    "kind",
    "node",
    "queue",
    "reason",
    "role",
    "rule",
    "severity",
    "version",
    "vhost",
];

/// Names and contents of the dashboard files.
fn dashboards() -> Vec<(String, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/grafana");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = files
        .map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

/// All Prometheus expressions of the dashboards, with Grafana's variables substituted.
pub(crate) fn expressions() -> Vec<String> {
    let mut found = Vec::new();
    for (_, dashboard) in dashboards() {
        for panel in dashboard["panels"].as_array().unwrap() {
            let targets = panel["targets"].as_array().unwrap().iter();
            found.extend(targets.map(|target| target["expr"].as_str().unwrap().to_owned()));
        }
    }
    let replaced = |text: String| {
        text.replace("$__rate_interval", "1m").replace("$node", ".*").replace("$instance", ".*")
    };
    found.into_iter().map(replaced).collect()
}

/// Words of an expression.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

#[test]
fn dashboards_query_every_metric_and_no_other() {
    let known: BTreeSet<String> =
        catalog::ALL.iter().map(|metric| format!("rabbitscope_{}", metric.name)).collect();
    let expressions = expressions();
    let queried: BTreeSet<String> = expressions
        .iter()
        .flat_map(|expression| words(expression))
        .filter(|word| word.starts_with("rabbitscope_"))
        .map(str::to_owned)
        .collect();
    assert_eq!(queried, known);
    for expression in &expressions {
        let groups = expression.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
        for label in groups.flat_map(|labels| labels.split(", ")) {
            assert!(LABELS.contains(&label), "{label} in {expression}");
        }
    }
}

#[test]
fn panels_have_ids_of_their_own_and_do_not_overlap() {
    let all = dashboards();
    assert_eq!(all.len(), 2);
    let uids = all.iter().filter_map(|(_, dashboard)| dashboard["uid"].as_str());
    let uids: BTreeSet<&str> = uids.collect();
    assert_eq!(uids.len(), 2);
    for (name, dashboard) in &all {
        let panels = dashboard["panels"].as_array().unwrap();
        let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
        assert_eq!(ids.len(), panels.len(), "{name}");
        let mut cells = BTreeSet::new();
        for panel in panels {
            let place = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            assert!(place("x") + place("w") <= 24, "{name}: {}", panel["title"]);
            for x in place("x")..place("x") + place("w") {
                for y in place("y")..place("y") + place("h") {
                    assert!(cells.insert((x, y)), "{name}: {} overlaps", panel["title"]);
                }
            }
        }
    }
}
