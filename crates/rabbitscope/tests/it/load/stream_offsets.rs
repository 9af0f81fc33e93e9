//! The start positions of a stream's consumers.

use rabbitscope_testing::{
    Workbench,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

#[test]
fn a_stream_is_read_from_a_time_ago() {
    let bench = Workbench::new("offset");
    // The consumer starts after all messages were published: only an offset in the past has messages for it.
    let late = Consumers::new("offset-by-time").prefetch(100).start_delay("2s").messages(200);
    let scenario = Scenario::new("offset")
        .queues(Queue::new("offset-by-time").of_type("stream"))
        .publishers(Publishers::new("offset-by-time").messages(200).confirm_window(100))
        .consumers(late.offset("1h"))
        .duration("20s");
    bench.run(scenario).code(0);
    let record = bench.json("out/run.json");
    assert_eq!(record["load"]["consumed"], 200, "{record:#}");
    assert!(record["duration-nanos"].as_u64().unwrap() < 15_000_000_000, "by count, not by time");
}
