//! Requests get replies, and the others are accounted for.

use std::{thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::workbench::{
    Ended, Workbench, eventually, existing_broker, lines, own_broker, queues_on,
};

const TEXT: &str = r#"
name = "rpc"
[[queues]]
name = "rpc-NAME"
durable = false
[[requests]]
queue = "rpc-NAME"
count = 20
connections = 2
channels = 3
messages = 200
[[responders]]
queue = "rpc-NAME"
count = 3
connections = 2
prefetch = 10
"#;

/// Runs `TEXT` on a queue of its own on the shared broker; returns the run record.
#[track_caller]
fn run(bench: &Workbench, name: &str, changes: &str) -> Value {
    bench.file("s.toml", &TEXT.replace("NAME", name));
    let uri = existing_broker().uri();
    let arguments = format!("run s.toml --uri {uri} --out out-{name} --json {changes}");
    let ended = bench.rabbitscope(&arguments).code(0);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

#[track_caller]
fn count(run: &Value, key: &str) -> u64 {
    run["load"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

/// Returns the number of measurements of a latency; 0 if there are none.
fn measured(run: &Value, latency: &str) -> u64 {
    let mut all = run["latencies"].as_array().unwrap().iter();
    all.find(|row| row["name"] == latency).map_or(0, |row| row["count"].as_u64().unwrap())
}

#[test]
fn every_request_has_its_reply() {
    let bench = Workbench::new("rpc");
    let queues_before = queues_on(existing_broker()).matches("amq.gen").count();
    for (name, changes) in [
        ("direct", "--set requests.0.reply=direct"),
        ("queue", "--set requests.0.reply=queue --set responders.0.size=0B"),
        ("window", "--set requests.0.concurrency=7 --set requests.0.persistent=true"),
    ] {
        let run = run(&bench, name, changes);
        assert_eq!((count(&run, "requests"), count(&run, "replies")), (4000, 4000), "{name}");
        assert_eq!((count(&run, "requests-unanswered"), count(&run, "stray-replies")), (0, 0));
        assert_eq!((count(&run, "published"), count(&run, "consumed")), (8000, 8000), "{name}");
        assert_eq!(measured(&run, "round-trip"), 4000);
        assert_eq!(run["losses"], Value::Array(Vec::new()), "{name}");
        let log = bench.read(&format!("out-{name}/latency-round-trip.hlog"));
        assert!(log.contains("from handing a request"), "{log}");
        assert!(
            bench.read(&format!("out-{name}/series.jsonl")).contains("\"round-trip-latency\":{")
        );
    }
    let queues = queues_on(existing_broker());
    for name in ["rpc-direct", "rpc-queue", "rpc-window"] {
        assert!(!queues.contains(name), "{queues}");
    }
    eventually("queues of replies are gone", || {
        queues_on(existing_broker()).matches("amq.gen").count() <= queues_before
    });
}

#[test]
fn each_message_has_a_write_of_its_own_where_that_is_asked_for() {
    let bench = Workbench::new("rpc-writes");
    let many = "--set requests.0.concurrency=50";
    let batched = run(&bench, "batched", many);
    assert!(count(&batched, "writes") < 8000, "{batched:#}");
    let each = "--set requests.0.write=per-message --set responders.0.write=per-message";
    let single = run(&bench, "single", &format!("{many} {each}"));
    assert_eq!(count(&single, "replies"), 4000);
    assert!(count(&single, "writes") >= 8000, "{single:#}");
}

#[test]
fn large_requests_and_replies_come_whole() {
    let bench = Workbench::new("rpc-large");
    let sizes = "--set requests.0.size=300KiB --set responders.0.size=1MiB";
    let acks = "--set requests.0.messages=3 --set responders.0.auto-ack=true";
    bench.file("s.toml", &TEXT.replace("NAME", "large").replace("prefetch = 10", ""));
    let uri = existing_broker().uri();
    let arguments = format!("run s.toml --uri {uri} --out out --json {sizes} {acks}");
    let ended = bench.rabbitscope(&arguments).code(0);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((count(&run, "requests"), count(&run, "replies")), (60, 60));
    // Each body goes through the broker: out and in again.
    let bodies = 60 * (300 * 1024 + 1024 * 1024);
    assert!(count(&run, "bytes-written") > bodies && count(&run, "bytes-read") > bodies, "{run:#}");
}

#[test]
fn a_schedule_does_not_wait_for_replies() {
    let bench = Workbench::new("rpc-rate");
    let run = run(&bench, "rate", "--set requests.0.rate=50 --set requests.0.messages=150");
    assert_eq!((count(&run, "requests"), count(&run, "replies")), (3000, 3000));
    assert_eq!(measured(&run, "round-trip"), 3000);
    assert_eq!(measured(&run, "round-trip-intended"), 3000);
    let seconds = run["duration-nanos"].as_u64().unwrap() as f64 / 1e9;
    assert!((2.9..6.0).contains(&seconds), "150 requests at 50/s took {seconds} s");
}

/// The load ends when all schedules end, even those without a request for some callers.
#[test]
fn schedules_of_requests_have_phases_and_an_end() {
    let bench = Workbench::new("rpc-phases");
    for (name, phase, requests) in [
        ("ramp", "rate=0,to=60", 600),
        ("bursts", "burst=5,every=\"400ms\"", 300),
        ("few", "rate=0.5", 10),
    ] {
        let phases = format!("[{{for=\"1s\",{phase}}}]");
        let set = format!("--set requests.0.phases={phases} --set requests.0.after-phases=stop");
        let run = run(&bench, name, &set);
        assert_eq!(
            (count(&run, "requests"), count(&run, "replies")),
            (requests, requests),
            "{name}"
        );
        assert_eq!(measured(&run, "round-trip-intended"), requests, "{name}");
    }
}

#[test]
fn requests_without_an_answer_are_given_up() {
    let bench = Workbench::new("rpc-silence");
    let text = TEXT.replace("NAME", "silence");
    let text = text.split("[[responders]]").next().unwrap();
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let changes = "--set requests.0.timeout=300ms --set requests.0.messages=2";
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out {changes}")).code(0);
    assert!(ended.stdout.contains("40 of 40 round trips"), "{ended:#?}");
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "requests"), count(&run, "replies")), (40, 0));
    assert_eq!(count(&run, "requests-unanswered"), 40);
    assert!(run["duration-nanos"].as_u64().unwrap() >= 600_000_000, "two timeouts in a row");
}

#[test]
fn replies_that_come_too_late_are_stray() {
    let broker = own_broker();
    let bench = Workbench::new("rpc-late");
    bench.file("s.toml", &TEXT.replace("NAME", "late").replace("messages = 200", ""));
    let changes =
        "--set requests.0.timeout=1s --set run.duration=7s --set expect.without-service=<90%";
    let running = bench.start(&format!("run s.toml --uri {} --out out {changes}", broker.uri()));
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    let pid = Pid::from_raw(broker.pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    thread::sleep(Duration::from_millis(2500));
    kill_process(pid, Signal::CONT).unwrap();
    Ended::from(running.wait_with_output().unwrap()).code(0);
    let run = bench.json("out/run.json");
    let (unanswered, stray) = (count(&run, "requests-unanswered"), count(&run, "stray-replies"));
    // Each of the 20 callers gives up at least once during the pause.
    assert!(unanswered >= 20 && (20..=unanswered).contains(&stray), "{unanswered} {stray} {run:#}");
    let (requests, replies) = (count(&run, "requests"), count(&run, "replies"));
    assert_eq!(requests, replies + unanswered);
    assert!(replies > 1000, "it goes on behind the pause: {run:#}");
}

#[test]
fn callers_and_responders_bear_the_loss_of_their_connections() {
    let broker = own_broker();
    let bench = Workbench::new("rpc-loss");
    for reply in ["direct", "queue"] {
        bench.file("s.toml", &TEXT.replace("NAME", "loss").replace("messages = 200", ""));
        let changes = format!(
            "--set broker.recovery=true --set broker.recovery-delay=300ms --set run.duration=5s \
             --set requests.0.reply={reply} --set requests.0.timeout=1s \
             --set expect.without-service=<90%"
        );
        let out = format!("out-{reply}");
        let arguments = format!("run s.toml --uri {} --out {out} {changes}", broker.uri());
        let running = bench.start(&arguments);
        let series = bench.path(&format!("{out}/series.jsonl"));
        eventually("a second is recorded", || lines(&series) >= 1);
        let close = "[rabbit_networking:close_connection(P, \"by the test\") || \
                     P <- rabbit_networking:connections()]";
        broker.eval(close).unwrap();
        Ended::from(running.wait_with_output().unwrap()).code(0);
        let run = bench.json(&format!("{out}/run.json"));
        assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
        assert_eq!(count(&run, "reconnects"), 4, "{run:#}");
        let (requests, replies) = (count(&run, "requests"), count(&run, "replies"));
        assert_eq!(requests, replies + count(&run, "requests-unanswered"));
        let text = bench.read(&format!("{out}/series.jsonl"));
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = rows.iter().rfind(|row| row["draining"] == false).unwrap();
        assert!(last["replies"].as_u64() > Some(0), "still answered at the end: {rows:#?}");
    }
}
