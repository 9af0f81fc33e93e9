//! The subject of a check: a node by the name of its cluster, a recorded run; and the proof of a finding.

use rabbitscope_testing::{
    Ends, Stops, Workbench, eventually, node_options, own_broker, plant,
    scenario::{Consumers, Publishers, Scenario},
};
use rustix::process::Signal;

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
fn slow_consumers(duration: &str) -> Scenario {
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

/// The whole experiment takes minutes, so it is ended as soon as its first run is under way.
#[test]
fn a_proof_is_written_and_begun() {
    let (bench, broker) = (Workbench::new("check-proof"), own_broker().take());
    plant(&broker, "rabbit_trace:start(<<\"/\">>), ok");
    let load = bench.start_run(&broker, slow_consumers("5m"), 3);
    let node = node_options(&broker);
    let arguments = format!("check --duration 4s --write-experiments proofs --prove {node}");
    let proving = bench.start(&arguments);
    let is_begun = || {
        let brokers = bench.broker_directories();
        brokers.iter().any(|own| own.join("node.json").exists())
    };
    eventually("the experiment has a broker of its own", is_begun);
    let ended = proving.ended_by(Signal::INT);
    assert_ne!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.starts_with("limit     "), "{ended:#?}");
    assert!(ended.stderr.contains("written: proofs/"), "{ended:#?}");
    let file = |line: &str| line.split_once("written: ").map(|(_, path)| path.to_owned());
    let written = ended.stderr.lines().find_map(file).unwrap();
    let (experiment, scenario) = (bench.read(&written), written.replace(".toml", "-load.toml"));
    assert!(experiment.contains("[design]") || experiment.contains("rounds = "), "{experiment}");
    assert!(bench.read(&scenario).contains("[[publishers]]"));
    load.ended_by(Signal::INT);
    bench.assert_nothing_left();
    bench.command_line("rm -r proofs").ended().code(0);
}
