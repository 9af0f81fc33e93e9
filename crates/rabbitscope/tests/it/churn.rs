//! Churn keeps its rate, and leaves nothing behind.

use rustix::process::Signal;
use serde_json::Value;

use crate::workbench::{
    Workbench, eventually, existing_broker, lines, own_broker, queues_on, signal,
};

#[track_caller]
fn count(run: &Value, key: &str) -> u64 {
    run["load"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

/// Returns the number of measurements of a latency.
#[track_caller]
fn measured(run: &Value, latency: &str) -> u64 {
    let mut all = run["latencies"].as_array().unwrap().iter();
    let found = all.find(|row| row["name"] == latency);
    found.unwrap_or_else(|| panic!("{latency} in {run:#}"))["count"].as_u64().unwrap()
}

/// Runs `text` on the shared broker; returns the run record.
#[track_caller]
fn run(bench: &Workbench, text: &str) -> Value {
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out --json")).code(0);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

#[test]
fn every_kind_keeps_its_rate_and_leaves_nothing() {
    let broker = own_broker();
    let bench = Workbench::new("churn");
    let groups: String = ["connections", "channels", "queues", "bindings", "consumers"]
        .map(|kind| {
            format!("[[churn]]\nname = \"{kind}\"\nkind = \"{kind}\"\nrate = 20\nhold = \"50ms\"\n")
        })
        .concat();
    bench.file("s.toml", &format!("name = \"churn\"\nrun.duration = \"4s\"\n{groups}"));
    let arguments = format!("run s.toml --uri {} --out out --json", broker.uri());
    let ended = bench.rabbitscope(&arguments).code(0);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    for kind in ["connections", "channels", "queues", "bindings", "consumers"] {
        let opened = measured(&run, &format!("{kind}-open"));
        assert!((72..=88).contains(&opened), "{kind}: {opened} in 4 s at 20/s");
        assert_eq!(measured(&run, &format!("{kind}-close")), opened, "{kind}");
        assert!(bench.path(&format!("out/latency-{kind}-open.hlog")).exists());
    }
    assert_eq!(count(&run, "churn-opened"), count(&run, "churn-closed"));
    assert_eq!(count(&run, "churn-failed"), 0);
    assert!(bench.read("out/series.jsonl").contains("\"churn-open-latency\":{"));
    // Queues, bindings, connections and channels: all must be empty.
    let left = "{rabbit_amqqueue:list_names(), rabbit_binding:list(<<\"/\">>), \
                rabbit_networking:connections(), rabbit_channel:list()}";
    eventually("nothing is left", || broker.eval(left).unwrap().trim() == "{[],[],[],[]}");
}

#[test]
fn as_fast_as_it_goes_until_the_cycles_are_through() {
    let bench = Workbench::new("churn-cycles");
    let text = r#"
name = "cycles"
[[queues]]
name = "churn-cycles"
durable = false
[[churn]]
name = "connections"
kind = "connections"
concurrency = 3
cycles = 20
[[churn]]
name = "quorum"
kind = "queues"
type = "quorum"
concurrency = 2
cycles = 5
[[churn]]
name = "consumers"
kind = "consumers"
queue = "churn-cycles"
concurrency = 6
connections = 2
cycles = 50
"#;
    let run = run(&bench, text);
    for (group, cycles) in [("connections", 20), ("quorum", 5), ("consumers", 50)] {
        assert_eq!(measured(&run, &format!("{group}-open")), cycles, "{group}");
        assert_eq!(measured(&run, &format!("{group}-close")), cycles, "{group}");
    }
    assert_eq!((count(&run, "churn-opened"), count(&run, "churn-failed")), (75, 0));
    let queues = queues_on(existing_broker());
    for name in ["rabbitscope-churn-", "churn-cycles"] {
        assert!(!queues.contains(name), "{queues}");
    }
}

#[test]
fn consumers_that_come_and_go_lose_no_message() {
    let bench = Workbench::new("churn-consumers");
    let text = r#"
name = "consumers"
run.duration = "3s"
[[queues]]
name = "churn-consumers"
durable = false
[[publishers]]
queue = "churn-consumers"
confirm-window = 100
messages = 2000
rate = 2000
[[churn]]
kind = "consumers"
queue = "churn-consumers"
concurrency = 3
hold = "20ms"
cycles = 200
[[consumers]]
queue = "churn-consumers"
prefetch = 10
"#;
    let run = run(&bench, text);
    assert_eq!((count(&run, "published"), count(&run, "consumed")), (2000, 2000));
    assert!(count(&run, "churn-opened") > 50, "{run:#}");
}

#[test]
fn a_refusal_is_counted_with_the_brokers_words() {
    let bench = Workbench::new("churn-refused");
    let text = r#"
name = "refused"
run.duration = "2500ms"
[[churn]]
name = "wrong"
kind = "queues"
concurrency = 2
arguments = { x-max-length = -5 }
[[churn]]
name = "right"
kind = "channels"
rate = 10
"#;
    let run = run(&bench, text);
    // Each of two slots fails at once, and again after each second.
    assert!((2..=6).contains(&count(&run, "churn-failed")), "{run:#}");
    let loss = &run["losses"][0];
    assert!(loss["meaning"].as_str().unwrap().contains("x-max-length"), "{loss}");
    assert!(measured(&run, "right-close") > 20, "{run:#}");
}

#[test]
fn queues_of_a_killed_churn_are_removed_by_the_next_run() {
    let broker = &own_broker();
    let bench = Workbench::new("churn-killed");
    let text = r#"
name = "killed"
run.duration = "60s"
[[churn]]
kind = "queues"
durable = true
concurrency = 3
hold = "30s"
"#;
    bench.file("s.toml", text);
    let arguments = format!("run s.toml --uri {} --out", broker.uri());
    let mut running = bench.start(&format!("{arguments} killed"));
    eventually("a second is recorded", || lines(&bench.path("killed/series.jsonl")) >= 1);
    signal(&running, Signal::KILL);
    running.wait().unwrap();
    assert_eq!(queues_on(broker).matches("rabbitscope-churn-").count(), 3);
    let ended = bench.rabbitscope(&format!("{arguments} next --set run.duration=1s")).code(0);
    assert!(ended.stderr.contains("removed leftovers of"), "{ended:#?}");
    let queues = queues_on(broker);
    assert!(!queues.contains("rabbitscope-churn-"), "{queues}");
}
