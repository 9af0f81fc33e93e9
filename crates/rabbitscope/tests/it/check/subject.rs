//! The subject of a check: a node by the name of its cluster, a recorded run.

use rabbitscope_testing::{
    Workbench, own_broker,
    scenario::{Consumers, Publishers, Scenario},
};

use super::limits::text;

#[test]
fn the_name_of_a_cluster_stands_for_its_first_node() {
    let bench = Workbench::new("check-cluster-name");
    let started = bench.rabbitscope("broker start --nodes 2 --json").code(0).json();
    let name = text(&started[0], "name").to_owned();
    let ended = bench.rabbitscope(&format!("check --node {name} --duration 3s --json")).code(0);
    let report = ended.json();
    assert_eq!(text(&report, "node"), format!("{name}-1@localhost"), "{report:#}");
    let unread = report["unread"].to_string();
    assert!(!unread.contains("does not run on this machine"), "{unread}");
    let note = format!("{name}-1@localhost stands for its cluster");
    assert!(ended.stderr.contains(&note), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("({name}-2@localhost)")), "{}", ended.stderr);

    let second =
        bench.rabbitscope(&format!("check --node {name}-2@localhost --duration 3s --json"));
    let second = second.code(0);
    assert_eq!(text(&second.json(), "node"), format!("{name}-2@localhost"));
    assert!(!second.stderr.contains("stands for"), "{}", second.stderr);
    bench.rabbitscope(&format!("broker stop {name}")).code(0);
    bench.assert_nothing_left();
}

/// Consumers that are slower than their publisher.
pub(super) fn slow_consumers(duration: &str) -> Scenario {
    Scenario::with_queue("checked-run")
        .duration(duration)
        .publishers(Publishers::new("checked-run").rate(200))
        .consumers(Consumers::new("checked-run").prefetch(20).processing_time("20ms"))
}

#[test]
fn a_recorded_run_is_checked() {
    let (bench, broker) = (Workbench::new("check-run"), own_broker());
    bench.run_on(&broker, slow_consumers("8s"), "").code(0);
    let report = bench.rabbitscope("check out --json").code(0).json();
    assert_eq!(report["limit"]["kind"], "consumers", "{report:#}");
    assert_ne!(report["limit"]["certainty"], "certain", "{report:#}");
    let shown = bench.rabbitscope("check out").code(0).stdout;
    assert!(shown.starts_with("limit     consumers: "), "{shown}");
    assert!(!shown.contains("(pid 0)") && shown.lines().count() <= 40, "{shown}");

    // A run is no baseline, its check is one.
    let refused = bench.rabbitscope("check out --baseline out/run.json").code(2).stderr;
    assert!(refused.contains("it is the record of a run"), "{refused}");
    bench.file("before.json", report);
    let compared = bench.rabbitscope("check out --baseline before.json").code(0).stdout;
    assert!(compared.contains("differs   ") && compared.contains("none differs"), "{compared}");
}
