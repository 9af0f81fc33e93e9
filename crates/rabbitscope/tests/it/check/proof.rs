//! Experiments that a check writes: on the observed load where packets may be captured, else on a smaller one.

use std::time::Duration;

use rabbitscope_runs::{
    experiment,
    scenario::{self, Scenario},
};
use rabbitscope_testing::{
    Ends, Stops, Workbench, eventually, node_options, own_broker, plant,
    scenario::{Consumers, Publishers, Scenario as Load},
};
use rustix::process::{Signal, geteuid};

use super::subject::slow_consumers;

const TRACE: &str = "rabbit_trace:start(<<\"/\">>), ok";

/// Returns the scenarios of the arms of an experiment, which are on the observed load.
#[track_caller]
fn arms(bench: &Workbench, path: &str) -> Vec<Scenario> {
    let text = bench.read(path);
    let read =
        experiment::parse(&text, path, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.base, "observed-load.toml", "{text}");
    let base = bench.read("proofs/observed-load.toml");
    let arm = |overrides: &[String]| {
        let read = scenario::parse(&base, "observed-load.toml", overrides);
        read.unwrap_or_else(|error| panic!("{error}\n{text}\n{base}"))
    };
    read.arms.iter().map(|one| arm(&one.overrides)).collect()
}

/// Checks the only group of publishers with messages and the only one of consumers. Connections without messages are a
/// group, too.
#[track_caller]
fn check_groups(scenario: &Scenario, rate: f64, size: u32, prefetch: u16) {
    let text = scenario.to_toml();
    let publishing = scenario.publishers.iter().filter(|group| group.rate != Some(0.0)).count();
    assert_eq!((publishing, scenario.consumers.len()), (1, 1), "{text}");
    let (publishers, consumers) = (&scenario.publishers[0], &scenario.consumers[0]);
    let found = publishers.rate.unwrap_or_default();
    assert!((found / rate - 1.0).abs() < 0.05, "{found}, not {rate}\n{text}");
    assert_eq!((publishers.size, consumers.prefetch), (Some(size), Some(prefetch)), "{text}");
}

/// The whole experiment takes minutes, so it is ended as soon as its first run is under way.
#[test]
fn a_proof_is_written_and_begun() {
    let (bench, broker) = (Workbench::new("check-proof"), own_broker().take());
    plant(&broker, TRACE);
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
    let experiment = bench.read(&written);
    assert!(experiment.contains("[design]") || experiment.contains("rounds = "), "{experiment}");
    if geteuid().is_root() {
        let arms = arms(&bench, &written);
        check_groups(&arms[0], 200.0, 12, 20);
        // On a busy machine, times differ so much that they are shares.
        let group = &arms[0].consumers[0];
        let shares = group.processing_time_shares.as_ref();
        let mut sum = 0.0;
        let mut is_median = |share: f64| {
            sum += share;
            sum >= 0.5
        };
        let median = shares.and_then(|all| all.iter().find(|one| is_median(one.share)));
        let time = group.processing_time.or(median.map(|one| one.time)).unwrap_or_default();
        assert!(time.abs_diff(Duration::from_millis(20)) < Duration::from_millis(3), "{time:?}");
    } else {
        let scenario = bench.read(&written.replace(".toml", "-load.toml"));
        assert!(scenario.contains("[[publishers]]"), "{scenario}");
        assert!(scenario.contains("not the observed load itself"), "{scenario}");
    }
    load.ended_by(Signal::INT);
    bench.assert_nothing_left();
    bench.command_line("rm -r proofs").ended().code(0);
}

/// A load that nothing limits, on a node with tracing.
#[test]
fn experiments_are_on_the_observed_load() {
    let Some(bench) = Workbench::for_root("check-observed-load") else { return };
    let broker = own_broker().take();
    plant(&broker, TRACE);
    let publishers = Publishers::new("checked").count(2).rate(60).size("700B").confirm_window(1);
    let consumers = Consumers::new("checked").prefetch(30);
    let load =
        Load::with_queue("checked").duration("5m").publishers(publishers).consumers(consumers);
    let load = bench.start_run(&broker, load, 3);
    let node = node_options(&broker);
    let ended = bench
        .rabbitscope(&format!("check --duration 6s --write-experiments proofs {node}"))
        .code(0);
    load.ended_by(Signal::INT);
    assert!(ended.stderr.contains("written: proofs/tracing.toml"), "{ended:#?}");
    let arms = arms(&bench, "proofs/tracing.toml");
    assert_eq!(arms.len(), 2);
    for arm in &arms {
        check_groups(arm, 60.0, 700, 30);
        let publishers = &arm.publishers[0];
        assert_eq!((publishers.count, publishers.confirm_window), (2, Some(1)));
        assert!(arm.queue_spec("checked").is_some_and(|queue| queue.durable));
    }
    let base = bench.read("proofs/observed-load.toml");
    assert!(base.contains("# Sources:") && base.contains("`rabbitscope check` captured"), "{base}");
    assert!(!base.contains("# Assumed") && !base.contains(broker.login().1), "{base}");
    let figures = bench.read("proofs/observed-load.likeness.json");
    assert!(figures.contains("publishers-1") && !figures.contains("checked"), "{figures}");
}
