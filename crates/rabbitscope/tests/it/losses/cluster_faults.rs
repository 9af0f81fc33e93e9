//! Runs with `[[faults]]`: the faults of a cluster's nodes and their cost. No confirmed message is lost.
//!
//! `scripts/cluster-faults.sh` runs all of `scenarios/cluster-faults.toml`.

use std::sync::{Mutex, PoisonError};

use rabbitscope_testing::{
    Ended, Ends, Stops, Workbench,
    scenario::{Consumers, Fault, Publishers, Queue, Scenario},
};
use rustix::process::Signal;
use serde_json::Value;

/// Runs one test at a time, because three nodes load the machine enough.
static RUNNING: Mutex<()> = Mutex::new(());

/// Quorum queues and a stream on three nodes, verified message by message.
fn scenario(seconds: u32, faults: impl IntoIterator<Item = Fault>) -> Scenario {
    let publishers = |queue: &str| {
        let publishers = Publishers::new(queue).name(queue).size("100B").rate(100);
        publishers.confirm_window(200).republish_unconfirmed(true)
    };
    let consumers = |queue: &str| Consumers::new(queue).name(queue).prefetch(100);
    let orders = publishers("orders").count(3).connections(3).persistent(true);
    let scenario = Scenario::new("cluster-faults")
        .seed(3)
        .queues(Queue::new("orders").of_type("quorum"))
        .queues(Queue::new("events").of_type("stream"))
        .publishers(orders)
        .publishers(publishers("events"))
        .consumers(consumers("orders").count(3).connections(3))
        .consumers(consumers("events").offset("first"))
        .duration(format!("{seconds}s"))
        .verify(true)
        .self_check(false)
        .nodes(3)
        .recovery(true)
        .recovery_delay("100ms")
        .recovery_max_delay("1s")
        .expect("lost", "== 0")
        .expect("without-service", "< 90%")
        .expect("blocked", "< 90%");
    faults.into_iter().fold(scenario, Scenario::faults)
}

struct Outcome {
    ended: Ended,
    run: Value,
}

impl Outcome {
    fn from_run(bench: &Workbench, seconds: u32, faults: impl IntoIterator<Item = Fault>) -> Self {
        bench.file("s.toml", scenario(seconds, faults));
        // The boot of a cluster and the return of nodes exceed the usual two-minute limit of a test.
        let timeout = "timeout --signal=KILL 400";
        let ended = bench.command_through(timeout, "run s.toml --out out").ended();
        assert!(bench.path("out/run.json").exists(), "{ended:#?}");
        Self { ended, run: bench.json("out/run.json") }
    }

    /// Asserts that every fault went as planned, and no confirmed message was lost.
    #[track_caller]
    fn check(&self, kinds: &[&str]) -> &[Value] {
        let verification = &self.run["verification"];
        assert_eq!(self.ended.code, Some(0), "{:#?}\n{verification:#}", self.ended);
        let faults = self.run["faults"].as_array().unwrap();
        let found: Vec<&str> = faults.iter().map(|fault| fault["kind"].as_str().unwrap()).collect();
        assert_eq!(found, kinds, "{faults:#?}");
        for fault in faults {
            assert!(fault["failure"].is_null(), "{fault:#}");
            let at = |key: &str| fault[key].as_u64().unwrap_or_else(|| panic!("{key}: {fault:#}"));
            let late = at("begun-nanos") - at("planned-nanos");
            assert!(late < 500_000_000, "{fault:#}");
            assert!(at("happened-nanos") >= at("begun-nanos"), "{fault:#}");
            assert!(at("undone-nanos") >= at("undo-begun-nanos"), "{fault:#}");
        }
        assert!(verification["accepted"].as_u64().unwrap() > 1000, "{verification:#}");
        let expected = [0, 0];
        let found = ["lost", "not-judged"].map(|key| verification[key].as_u64().unwrap());
        assert_eq!(found, expected, "{verification:#}");
        faults
    }
}

/// Returns the names of a queue's leaders over time.
fn leaders(run: &Value, queue: &str) -> Vec<String> {
    let replicas = run["replicas"].as_array().unwrap();
    let leader = |snapshot: &Value| {
        let queues = snapshot["queues"].as_array().unwrap();
        let found = queues.iter().find(|row| row["name"] == queue);
        found.and_then(|row| row["leader"].as_str()).unwrap_or("nobody").to_owned()
    };
    replicas.iter().map(leader).collect()
}

#[test]
fn a_leader_that_is_killed_loses_nothing_that_was_confirmed() {
    let _one_at_a_time = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Workbench::new("leader-killed");
    let fault = Fault::new("kill").node("leader").queue("orders").at("8s").lasting("3s");
    let outcome = Outcome::from_run(&bench, 45, [fault]);
    let [kill] = outcome.check(&["kill"]) else { panic!("{:#}", outcome.run["faults"]) };
    let run = &outcome.run;
    let led = leaders(run, "orders");
    assert_eq!(led[0], kill["node"].as_str().unwrap(), "{led:?}");
    let whens: Vec<_> = run["replicas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|snapshot| snapshot["when"].clone())
        .collect();
    assert_eq!(whens, ["load begins", "during fault 1", "after fault 1", "load ended"]);
    assert!(led[1] != led[0] && led[1] != "nobody", "another leads meanwhile: {led:?}");
    let members = run["replicas"][0]["queues"][1]["members"].as_array().unwrap();
    assert_eq!(members.len(), 3, "{:#}", run["replicas"][0]);
    assert!(kill["pid-after"].as_u64().is_some(), "{kill:#}");
    // At least the publisher at that node has waited, and every client was served for most of the time.
    let stalled = kill["outage"]["stalled-nanos"].as_u64().unwrap();
    assert!((100_000_000..30_000_000_000).contains(&stalled), "{kill:#}");
    assert_eq!(run["fault-times"][0]["stalled"]["max"], stalled);
    assert!(run["load"]["reconnects"].as_u64() > Some(0), "{:#}", run["load"]);
    let series = bench.read("out/series.jsonl");
    assert!(!series.contains("\"broker-cpu-cores\":null"), "CPU time is measured all the time");
    for words in ["kill: 1 of 1 as planned", "back in service after", "publishers stalled"] {
        assert!(outcome.ended.stdout.contains(words), "{words}: {}", outcome.ended.stdout);
    }
    assert!(bench.read("out/report.html").contains("\"begun-nanos\""));
    bench.assert_nothing_left();
}

#[test]
fn alarms_pauses_and_partitions_come_and_go() {
    let _one_at_a_time = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Workbench::new("undone");
    let fault = |kind: &str, node: i64, at: &str| Fault::new(kind).node(node).at(at);
    let faults = [
        fault("memory-alarm", 2, "3s").lasting("3s"),
        fault("pause", 3, "10s").lasting("3s"),
        fault("partition", 2, "17s").lasting("4s"),
    ];
    let outcome = Outcome::from_run(&bench, 35, faults);
    let faults = outcome.check(&["memory-alarm", "pause", "partition"]);
    let blocked = faults[0]["outage"]["blocked-nanos"].as_u64().unwrap();
    assert!(blocked > 1_500_000_000, "publishers were held: {:#}", faults[0]);
    assert!(faults[1]["outage"]["stalled-nanos"].as_u64() > Some(2_000_000_000), "{:#}", faults[1]);
    let during = outcome.run["replicas"].as_array().unwrap();
    let during = during.iter().find(|snapshot| snapshot["when"] == "during fault 3").unwrap();
    let cut_off = &faults[2]["node"];
    for queue in
        during["queues"].as_array().unwrap().iter().filter(|queue| queue["type"] == "quorum")
    {
        assert_ne!(&queue["leader"], cut_off, "the majority has a leader: {during:#}");
    }
}

/// A stopped run undoes its faults; a killed one leaves nothing.
#[test]
fn faults_end_with_the_run() {
    let _one_at_a_time = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Workbench::new("faults-end");
    bench.file("s.toml", scenario(60, [Fault::new("pause").node(2).at("1s")]));
    let child = bench.start("run s.toml --out stopped");
    bench.await_seconds("stopped", 4);
    let ended = child.ended_by(Signal::INT);
    let run = bench.json("stopped/run.json");
    assert!(run["faults"][0]["undone-nanos"].as_u64().is_some(), "{ended:#?} {:#}", run["faults"]);

    let child = bench.start("run s.toml --out killed");
    bench.await_seconds("killed", 4);
    child.killed();
    bench.assert_nothing_left();
}

#[test]
fn nothing_is_done_to_somebody_elses_broker() {
    let bench = Workbench::new("faults-refused");
    bench.file("s.toml", scenario(9, [Fault::new("kill").node(1).at("1s")]));
    let refused = bench.rabbitscope("run s.toml --uri amqp://127.0.0.1:1").code(2);
    assert!(refused.stderr.contains("that the run starts itself"), "{}", refused.stderr);
}
