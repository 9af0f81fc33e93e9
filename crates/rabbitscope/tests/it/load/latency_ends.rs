//! Ends of the end-to-end latency: a delivered message is not yet processed or settled.

use std::fs;

use rabbitscope_testing::{
    Workbench, count, latency_figure,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};
use serde_json::Value;

const MILLI: u64 = 1_000_000;

/// Twice as many messages as the consumer can process.
fn overload(prefetch: &str) -> Scenario {
    let consumers = Consumers::new("overload").processing_time("20ms");
    Scenario::with_queue("overload")
        .publishers(Publishers::new("overload").rate(100))
        .consumers(consumers.prefetch(raw(prefetch)))
        .duration("4s")
        .expect("end-to-end.p50", "< 300ms")
        .expect("delivered.p50", "< 1h")
        .expect("settled-intended.p50", "> 300ms")
}

#[track_caller]
fn p50(record: &Value, name: &str) -> u64 {
    latency_figure(record, name, "p50")
}

#[test]
fn a_large_prefetch_hides_no_wait() {
    let bench = Workbench::new("overload");
    let mut processed = Vec::new();
    for prefetch in ["1", "1000"] {
        let _ = fs::remove_dir_all(bench.path("out"));
        let text =
            bench.run_with(overload(prefetch), &format!("--csv {prefetch}.csv")).code(3).stdout;
        assert!(
            text.contains("NOT AS EXPECTED: end-to-end.p50 < 300ms, until processed ("),
            "{text}"
        );
        assert!(text.contains("as expected: delivered.p50 < 1h"), "{text}");
        assert!(text.contains("limits on it mean until processed"), "{text}");
        let run = bench.json("out/run.json");
        let [begun, settled] = ["processed", "settled"].map(|name| p50(&run, name));
        assert!((15 * MILLI..60 * MILLI).contains(&(settled - begun)), "{begun} {settled}");
        processed.push(begun);
        let counts = ["delivered", "consumed", "settled"].map(|name| count(&run, name));
        assert!(counts[0] >= counts[1] && counts[1] == counts[2], "{counts:?}");
        if prefetch == "1000" {
            assert!(p50(&run, "end-to-end") < 100 * MILLI, "{run:#}");
        }
        let csv = bench.read(&format!("{prefetch}.csv"));
        assert!(csv.contains(",processed_p99_ms,") && csv.contains(",settled_intended_p50_ms,"));
        let page = bench.read("out/report.html");
        assert!(page.contains("Until processed, log scale"), "no chart");
    }
    let [one, many] = processed[..] else { panic!("two runs") };
    // On a busy machine, a prefetch of 1 is slower: the consumer waits for each message.
    assert!(many > one / 3 && many > 300 * MILLI, "{one} {many}");
}

/// Groups with and without separate ends: the sums have every message.
#[test]
fn groups_that_tell_no_ends_apart_are_in_the_sums() {
    let bench = Workbench::new("ends");
    let text = Scenario::with_queue("ends-at-once")
        .queues(Queue::new("ends-later"))
        .queues(Queue::new("ends-many"))
        .publishers(Publishers::new("ends-at-once").rate(50))
        .publishers(Publishers::new("ends-later").rate(50))
        .publishers(Publishers::new("ends-many").rate(50))
        .consumers(Consumers::new("ends-at-once").name("at-once"))
        .consumers(Consumers::new("ends-later").name("later").prefetch(10).rate(100))
        .consumers(Consumers::new("ends-many").name("many").prefetch(40).multi_ack_every(20))
        .duration("3s");
    bench.run(text).code(0);
    let run = bench.json("out/run.json");
    let [delivered, processed, settled] =
        ["end-to-end", "processed", "settled"].map(|name| latency_figure(&run, name, "count"));
    assert!(delivered == processed && delivered >= settled && settled + 40 > delivered, "{run:#}");
    let groups = run["breakdown"]["groups"].as_array().unwrap();
    let latencies = |group: &str| {
        let is_meant = |row: &&Value| row["group"] == group && row["kind"] == "consumers";
        groups.iter().find(is_meant).unwrap()
    };
    let at_once = latencies("at-once");
    for key in ["count", "p50", "max"] {
        let [one, other] = ["end-to-end", "settled"].map(|name| latency_figure(at_once, name, key));
        assert_eq!(one, other, "{run:#}");
    }
    let many = latencies("many");
    let [processed, settled] = ["processed", "settled"].map(|name| p50(many, name));
    assert!(settled > processed + 100 * MILLI, "20 messages at 50 a second: {processed} {settled}");
}

#[test]
fn where_nothing_waits_there_is_one_latency() {
    let bench = Workbench::new("one-end");
    let scenario = Scenario::with_queue("one-end")
        .publishers(Publishers::new("one-end").rate(100))
        .consumers(Consumers::new("one-end").prefetch(100))
        .duration("1s")
        .expect("processed.p99", "< 10s")
        .expect("settled.p99", "< 10s")
        .expect("end-to-end.p99", "< 10s");
    let text = bench.run(scenario).code(0).stdout;
    let said = "end-to-end.p99 < 10s, until delivered, which is when consumers start on a message";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("processed and settled are the same as end-to-end"), "{text}");
    let latencies = bench.json("out/run.json")["latencies"].take();
    assert!(latencies.as_array().unwrap().iter().all(|row| row["name"] != "processed"));
}
