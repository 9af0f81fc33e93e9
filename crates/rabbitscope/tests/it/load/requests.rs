//! Requests get replies, and the others are accounted for.

use std::{fs, time::Duration};

use rabbitscope_testing::{
    Ends, Workbench, close_connections, count, eventually, existing_broker, own_broker, pause,
    queues_on,
    scenario::{Queue, Requests, Responders, Scenario},
};
use serde_json::Value;

fn callers(queue: &str) -> Requests {
    Requests::new(&format!("rpc-{queue}")).count(20).connections(2).channels(3)
}

fn responders(queue: &str) -> Responders {
    Responders::new(&format!("rpc-{queue}")).count(3).connections(2)
}

/// Returns a scenario with these callers on a queue of their own.
fn requesting(queue: &str, callers: Requests) -> Scenario {
    let queue = Queue::new(&format!("rpc-{queue}")).transient();
    Scenario::new("rpc").queues(queue).requests(callers)
}

/// Runs 200 requests of each caller on the shared broker, with changes; returns the run record.
#[track_caller]
fn run(bench: &Workbench, name: &str, changes: &str) -> Value {
    let scenario =
        requesting(name, callers(name).messages(200)).responders(responders(name).prefetch(10));
    let _ = fs::remove_dir_all(bench.path("out"));
    bench.run_with(scenario, &format!("--json {changes}")).code(0).json()
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
        let log = bench.read("out/latency-round-trip.hlog");
        assert!(log.contains("from handing a request"), "{log}");
        assert!(bench.read("out/series.jsonl").contains("\"round-trip-latency\":{"));
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
    let acks = "--set responders.0.auto-ack=true";
    let scenario =
        requesting("large", callers("large").messages(3)).responders(responders("large"));
    let run = bench.run_with(scenario, &format!("--json {sizes} {acks}")).code(0).json();
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
    let scenario = requesting("silence", callers("silence").messages(2));
    let ended = bench.run_with(scenario, "--set requests.0.timeout=300ms").code(0);
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
    let scenario = requesting("late", callers("late")).responders(responders("late").prefetch(10));
    let changes =
        "--set requests.0.timeout=1s --set run.duration=7s --set expect.without-service=<90%";
    let running = bench.start_run_with(&broker, scenario, changes, 1);
    pause(broker.pid, Duration::from_millis(2500));
    running.ended().code(0);
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
        let _ = fs::remove_dir_all(bench.path("out"));
        let scenario =
            requesting("loss", callers("loss")).responders(responders("loss").prefetch(10));
        let changes = format!(
            "--set broker.recovery=true --set broker.recovery-delay=300ms --set run.duration=5s \
             --set requests.0.reply={reply} --set requests.0.timeout=1s \
             --set expect.without-service=<90%"
        );
        let running = bench.start_run_with(&broker, scenario, &changes, 1);
        close_connections(&broker);
        running.ended().code(0);
        let run = bench.json("out/run.json");
        assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
        assert_eq!(count(&run, "reconnects"), 4, "{run:#}");
        let (requests, replies) = (count(&run, "requests"), count(&run, "replies"));
        assert_eq!(requests, replies + count(&run, "requests-unanswered"));
        let rows = bench.rows("out/series.jsonl");
        let last = rows.iter().rfind(|row| row["draining"] == false).unwrap();
        assert!(last["replies"].as_u64() > Some(0), "still answered at the end: {rows:#?}");
    }
}
