//! `until = "empty"`: a run that continues until its queues are empty.

use rabbitscope_testing::{
    Workbench, count,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

#[test]
fn consumers_take_what_is_left() {
    let bench = Workbench::new("emptying");
    // The consumer needs three seconds more than the publisher.
    let scenario = Scenario::with_queue("emptying")
        .publishers(Publishers::new("emptying").messages(1500))
        .consumers(Consumers::new("emptying").rate(500).prefetch(20))
        .until("empty");
    let run = bench.record(scenario, 0);
    assert_eq!(count(&run, "consumed"), 1500);
    let series = bench.read("out/series.jsonl");
    let draining = series.lines().filter(|line| line.contains("\"draining\":true")).count();
    assert!(draining >= 3, "the drain has its seconds: {series}");
    let load = run["duration-nanos"].as_u64().unwrap();
    assert!(load < 2_000_000_000, "the drain is no part of the load: {run:#}");
}

#[test]
fn queues_that_are_never_empty_end_the_run_late() {
    let bench = Workbench::new("never-empty");
    let scenario = Scenario::with_queue("never-empty")
        .publishers(Publishers::new("never-empty").messages(1500))
        .consumers(Consumers::new("never-empty").rate(20).prefetch(20))
        .until("empty")
        .empty_timeout("1s");
    let run = bench.record(scenario, 1);
    let reason = run["verdict"]["reason"].as_str().unwrap();
    assert!(reason.contains("empty-timeout") && reason.contains("messages are left"), "{reason}");
    assert!((10..200).contains(&count(&run, "consumed")), "{run:#}");
}

#[test]
fn consumers_alone_empty_a_queue() {
    let bench = Workbench::new("alone");
    let queue = Queue::new("left-for-others");
    let publishers = Publishers::new("left-for-others").messages(1400);
    let consumers = Consumers::new("left-for-others").rate(400).prefetch(20);
    let first = Scenario::new("alone").queues(queue.clone().keep(true)).publishers(publishers);
    bench.record(first, 0);
    let second = Scenario::new("alone").queues(queue).consumers(consumers).until("empty");
    let second = bench.record(second, 0);
    assert_eq!((count(&second, "published"), count(&second, "consumed")), (0, 1400));
}

/// The sockets take all messages at once, and the broker needs seconds to read them.
#[test]
fn what_sockets_hold_is_awaited() {
    let bench = Workbench::new("in-sockets");
    let text = Scenario::new("in-sockets")
        .queues(Queue::new("in-sockets").of_type("quorum"))
        .publishers(Publishers::new("in-sockets").count(4).connections(4).messages(30000))
        .consumers(Consumers::new("in-sockets").prefetch(100))
        .until("empty")
        .verify(true);
    let run = bench.record(text, 0);
    let counts = ["published", "accepted", "consumed"].map(|key| count(&run, key));
    assert_eq!(counts, [120_000; 3], "{run:#}");
    let found = ["lost", "still-queued", "not-judged"];
    let found = found.map(|key| run["verification"][key].as_u64().unwrap());
    assert_eq!(found, [0; 3], "{run:#}");
}
