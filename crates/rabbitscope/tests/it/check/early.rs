//! Checks that the user ends early.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_testing::{Stops, Workbench, evaluate, node_options};
use rustix::process::Signal;

use crate::inside::remains::{assert_nothing_left, await_work, busy_broker};

/// Time for the results after Ctrl-C, on a machine that other tests load.
const RESULTS: Duration = Duration::from_secs(8);

#[test]
fn an_interrupted_check_is_judged_by_what_was_read() {
    let bench = Workbench::new("check-early");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    let running = bench.start(&format!("check --duration 60s --json {node}"));
    await_work(&broker, "check");
    thread::sleep(Duration::from_secs(5));
    let asked = Instant::now();
    let ended = running.ended_by(Signal::INT).code(1);
    assert!(asked.elapsed() < RESULTS, "{:?}", asked.elapsed());
    assert!(ended.stderr.contains("ended early"), "{}", ended.stderr);

    let report = ended.json();
    let seconds = report["duration-nanos"].as_f64().unwrap() / 1e9;
    assert!((3.0..40.0).contains(&seconds), "{seconds}");
    assert!(report["rabbitmq"].as_str().unwrap().contains('.'), "{report:#}");
    let unread = report["unread"].as_array().unwrap();
    assert!(!unread.iter().any(|part| part["source"] == "node"), "{unread:#?}");
    // A share of the time is one of the time until then.
    let used = report["figures"]["values"]["schedulers.use"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&used), "{used}");
    assert_nothing_left(&broker, "an interrupted check");
    assert_eq!(evaluate(&broker, "erlang:system_flag(microstate_accounting, false)"), "false");
}

/// The agent may not be on the node yet.
#[test]
fn a_check_that_is_interrupted_at_once_leaves_nothing() {
    let bench = Workbench::new("check-at-once");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    for millis in [300, 600, 1200] {
        let running = bench.start(&format!("check --duration 60s {node}"));
        thread::sleep(Duration::from_millis(millis));
        let asked = Instant::now();
        let ended = running.ended_by(Signal::INT).code(1);
        assert!(asked.elapsed() < RESULTS, "{:?}", asked.elapsed());
        let is_said = ended.stdout.contains("cannot tell") && ended.stderr.contains("ended early");
        assert!(is_said, "{ended:#?}");
        assert_nothing_left(&broker, "an interrupted check");
    }
}
