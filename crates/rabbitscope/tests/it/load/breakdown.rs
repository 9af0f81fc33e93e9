//! Latencies by group and by queue.

use rabbitscope_testing::{
    Workbench, count, latency_figure,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};

#[test]
fn groups_and_queues_have_latencies_of_their_own() {
    let bench = Workbench::new("apart");
    let scenario = Scenario::new("apart")
        .queues(Queue::new("apart-{}").from(1).to(2))
        .publishers(Publishers::new("apart-1").name("fast").rate(300).confirm_window(100))
        .publishers(Publishers::new("apart-2").name("slow").rate(100).confirm_window(100))
        .consumers(Consumers::new("apart-{}").name("both").count(2).prefetch(10))
        .duration("2s")
        .latency_by_queue(true);
    let text = bench.run(scenario).code(0).stdout;
    assert!(text.contains("\nby group") && text.contains("\napart-2 "), "{text}");
    let record = bench.json("out/run.json");
    let breakdown = &record["breakdown"];
    let count =
        |kind: &str, at: usize, name: &str| latency_figure(&breakdown[kind][at], name, "count");
    assert_eq!(breakdown["groups"][1]["group"], "slow", "{breakdown:#}");
    let (fast, slow) = (count("groups", 0, "confirm"), count("groups", 1, "confirm"));
    assert!(fast > 2 * slow && slow > 50, "{breakdown:#}");
    let total = |name: &str| latency_figure(&record, name, "count");
    assert_eq!(fast + slow, total("confirm"));
    let queues = [count("queues", 0, "end-to-end"), count("queues", 1, "end-to-end")];
    assert_eq!(queues, [fast, slow], "every message was confirmed and came");
    assert_eq!(queues[0] + queues[1], total("end-to-end"));
    assert_eq!(count("groups", 2, "end-to-end"), total("end-to-end"));
}

#[test]
fn queues_refusals_and_processing_have_their_shares() {
    let bench = Workbench::new("shares");
    let times = r#"[{ time = "100us", share = 9 }, { time = "8ms", share = 1 }]"#;
    let sizes = r#"[{ size = "20B", share = 1 }, { size = "2KiB", share = 1 }]"#;
    let scenario = Scenario::new("shares")
        .queues(Queue::new("shares-{}").to(2))
        .publishers(
            Publishers::new("shares-{}")
                .rate(250)
                .key_shares(raw("[3, 1]"))
                .size_shares(raw(sizes)),
        )
        .consumers(
            Consumers::new("shares-{}")
                .count(2)
                .prefetch(50)
                .nack(true)
                .nack_share(0.2)
                .requeue_share(0.25)
                .processing_time_shares(raw(times)),
        )
        .duration("4s")
        .latency_by_queue(true);
    let run = bench.record(scenario, 0);
    let of =
        |queue: usize| latency_figure(&run["breakdown"]["queues"][queue], "end-to-end", "count");
    let (first, total) = (of(0) as f64, (of(0) + of(1)) as f64);
    assert!((0.7..0.8).contains(&(first / total)), "{first} of {total}");
    let refused = count(&run, "rejected") as f64 / count(&run, "settled") as f64;
    assert!((0.16..0.24).contains(&refused), "{refused}");
    let back = count(&run, "redelivered") as f64 / count(&run, "rejected") as f64;
    assert!((0.15..0.35).contains(&back), "{back}");
    // A tenth is processed for 8 ms, and few others wait for these.
    let settled = |figure: &str| latency_figure(&run, "settled", figure);
    assert!(2 * settled("p50") < settled("p99") && settled("p99") >= 8_000_000, "{run:#}");
}
