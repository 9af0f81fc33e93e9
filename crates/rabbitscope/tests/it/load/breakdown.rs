//! Latencies by group and by queue.

use rabbitscope_testing::{
    Workbench, latency_figure,
    scenario::{Consumers, Publishers, Queue, Scenario},
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
