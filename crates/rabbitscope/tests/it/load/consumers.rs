//! Transactions, polling, refusals, limits and processing times of consumers on a live broker.

use rabbitscope_testing::{
    Workbench, count, latency_figure,
    scenario::{Consumers, Fault, Publishers, Queue, Scenario, raw},
};
use serde_json::Value;

#[track_caller]
fn check_within(value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{value} is not from {low} to {high}");
}

fn seconds(run: &Value) -> f64 {
    run["duration-nanos"].as_f64().unwrap() / 1e9
}

#[test]
fn transactions_are_committed_to_the_last_message() {
    let bench = Workbench::new("tx");
    let load = |publishers: Publishers, consumers: Consumers| {
        Scenario::with_queue("rs.tx")
            .publishers(publishers.count(2).tx_size(10))
            .consumers(consumers.prefetch(40).multi_ack_every(3).tx_size(5))
    };
    let (publishers, consumers) = (Publishers::new("rs.tx"), Consumers::new("rs.tx"));
    let counted = load(publishers.clone().messages(105), consumers.clone().messages(210));
    let of_tx = bench.record(counted, 0);
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&of_tx, key), 210, "{key}");
    }
    assert_eq!((count(&of_tx, "unconfirmed"), count(&of_tx, "redelivered")), (0, 0));
    // An open transaction is committed when the time is up.
    let of_time = bench.record(load(publishers.rate(33), consumers).duration("2s"), 0);
    assert_eq!(count(&of_time, "unconfirmed"), 0);
    assert_eq!(count(&of_time, "consumed"), count(&of_time, "published"));
}

#[test]
fn polling_asks_for_each_message() {
    let bench = Workbench::new("polling");
    let text = Scenario::new("polling")
        .queues(Queue::new("rs.polling-{}").to(2))
        .publishers(Publishers::new("rs.polling-{}").start_delay("300ms").messages(50))
        .consumers(
            Consumers::new("rs.polling-{}")
                .polling(true)
                .poll_interval("5ms")
                .multi_ack_every(5)
                .messages(50),
        );
    let run = bench.record(text, 0);
    assert_eq!(count(&run, "consumed"), 50);
    assert!(count(&run, "empty-polls") > 20, "300 ms of nothing: {run:#}");
    check_within(seconds(&run), 0.5, 3.0);
}

#[test]
fn what_is_refused_comes_again() {
    let bench = Workbench::new("nack");
    let load = |consumers: Consumers| {
        Scenario::with_queue("rs.nack")
            .publishers(Publishers::new("rs.nack").messages(10))
            .consumers(consumers.prefetch(5).nack(true))
    };
    let consumers = Consumers::new("rs.nack");
    let requeued = bench.record(load(consumers.clone().messages(50)), 0);
    assert_eq!((count(&requeued, "consumed"), count(&requeued, "rejected")), (50, 50));
    assert!(count(&requeued, "redelivered") >= 40, "{requeued:#}");
    let dropped = bench.record(load(consumers.requeue(false).messages(10)), 0);
    assert_eq!((count(&dropped, "rejected"), count(&dropped, "redelivered")), (10, 0));
}

#[test]
fn a_rate_and_a_processing_time_set_the_pace() {
    let bench = Workbench::new("paces");
    let load = |consumers: Consumers| {
        Scenario::with_queue("rs.paces")
            .publishers(Publishers::new("rs.paces").messages(1000))
            .consumers(consumers.prefetch(20))
    };
    let consumers = Consumers::new("rs.paces");
    let rate = bench.record(load(consumers.clone().rate(200).messages(600)), 0);
    check_within(seconds(&rate), 2.7, 4.5);
    let processing = bench.record(load(consumers.processing_time("10ms").messages(150)), 0);
    // Each message also takes the time by which the machine oversleeps.
    check_within(seconds(&processing), 1.49, 4.0);
}

#[test]
fn a_channel_limit_holds_for_all_its_consumers() {
    let bench = Workbench::new("limit");
    let text = Scenario::with_queue("rs.limit")
        .publishers(Publishers::new("rs.limit").messages(200))
        .consumers(
            Consumers::new("rs.limit")
                .count(4)
                .channels(1)
                .channel_prefetch(1)
                .processing_time("20ms")
                .messages(15),
        );
    let run = bench.record(text, 0);
    // The consumer works on one message at a time, although four could run in parallel.
    assert!(seconds(&run) > 1.1, "{} s", seconds(&run));
}

#[test]
fn nothing_confirmed_is_counted_or_ends_the_run() {
    let bench = Workbench::new("unconfirmed");
    // A transaction that is not full is not committed, and thus not confirmed.
    let load = Scenario::with_queue("rs.unconfirmed")
        .publishers(Publishers::new("rs.unconfirmed").rate(5).tx_size(1000).confirm_timeout("1s"))
        .duration("4s");
    let counted = bench.record(&load, 0);
    assert_eq!(count(&counted, "confirm-timeouts"), 1);
    let failed = bench.record(load.change_publishers(|group| group.on_confirm_timeout("fail")), 1);
    assert!(failed["verdict"]["reason"].as_str().unwrap().contains("confirm-timeout"));
}

#[test]
fn consumers_start_one_after_the_other() {
    let bench = Workbench::new("slow");
    let text = Scenario::with_queue("rs.slow")
        .publishers(Publishers::new("rs.slow").messages(100))
        .consumers(
            Consumers::new("rs.slow")
                .count(3)
                .prefetch(1)
                .start_delay("200ms")
                .slow_start("500ms")
                .exclusive(false)
                .messages(10),
        );
    let run = bench.record(text, 0);
    assert_eq!(count(&run, "consumed"), 30);
    check_within(seconds(&run), 1.2, 2.5);
}

#[test]
fn packed_messages_are_taken_apart_into_what_was_packed() {
    let bench = Workbench::new("packed");
    let of = |packing: &Publishers, unpack: bool| {
        let scenario = Scenario::with_queue("rs.packed")
            .publishers(packing.clone())
            .consumers(Consumers::new("rs.packed").messages(500).prefetch(50).unpack(unpack))
            .verify(true);
        let run = bench.record(&scenario, 0);
        assert_eq!(count(&run, "unpacking-failures"), 0, "{scenario}");
        let faults = ["lost", "duplicates", "out-of-order"].map(|key| &run["verification"][key]);
        assert!(faults.iter().all(|count| count.as_u64() == Some(0)), "{scenario}: {faults:?}");
        ["published-items", "consumed-items", "published-item-bytes", "consumed-item-bytes"]
            .map(|key| count(&run, key))
    };
    let group = || Publishers::new("rs.packed").messages(500).size("2KB").confirm_window(100);
    let gzip = group().body("json").compression("gzip");
    for (packing, items) in [
        (&gzip, 1),
        (&group().body("json").compression("zstd").compression_level(9), 1),
        (&group().body("json").compression("lz4").items_per_message(100), 100),
        (&group().items_per_message(7), 7),
    ] {
        let [published, consumed, sent, received] = of(packing, true);
        assert_eq!((published, consumed), (500 * items, 500 * items));
        assert_eq!((sent, received), (2000 * 500 * items, sent));
    }
    let [_, consumed, sent, received] = of(&gzip, false);
    assert_eq!(consumed, 500);
    assert!(received < sent * 9 / 10, "{received} bytes of {sent} on the wire");
}

#[test]
fn queues_are_filled_before_the_load() {
    let bench = Workbench::new("prefill");
    let scenario = Scenario::new("prefill")
        .queues(Queue::new("prefill-{}").to(2).prefill(1_300).prefill_size("100B"))
        .publishers(Publishers::new("prefill-{}").rate(100).size("200B"))
        .consumers(Consumers::new("prefill-{}").count(2).prefetch(100))
        .duration("2s");
    bench.file("s.toml", scenario);
    let run = bench.rabbitscope("run s.toml --out out --json").code(0).json();
    let (published, consumed) = (count(&run, "published"), count(&run, "consumed"));
    assert!((150..=210).contains(&published), "{run:#}");
    // The last messages may be on their way.
    assert!((2_600 + published - 20..=2_600 + published).contains(&consumed), "{run:#}");
    let bytes = count(&run, "consumed-item-bytes");
    assert!((260_000 + 150 * 200..=260_000 + 210 * 200).contains(&bytes), "{run:#}");
    // A limit of length drops messages, which is no full queue.
    let short = Scenario::new("prefill")
        .queues(Queue::new("short").prefill(50).arguments(raw("{ x-max-length = 40 }")))
        .publishers(Publishers::new("short").rate(100))
        .duration("2s");
    bench.file("s.toml", short);
    let ended = bench.rabbitscope("run s.toml --out short");
    assert!(ended.stderr.contains("queue `short` holds 40 of the 50 messages"), "{ended:#?}");
    assert_ne!(ended.code, Some(0));
}

#[test]
fn a_consumer_processes_several_messages_at_the_same_time() {
    let bench = Workbench::new("concurrency");
    let scenario = Scenario::with_queue("concurrency")
        .publishers(Publishers::new("concurrency").rate(300))
        .consumers(
            Consumers::new("concurrency").prefetch(50).processing_time("10ms").concurrency(4),
        )
        .duration("3s");
    let run = bench.record(scenario, 0);
    // One after the other would be 100 a second.
    check_within(count(&run, "consumed") as f64 / seconds(&run), 270.0, 310.0);
    // One after the other would take a second in the middle of the run. A busy machine adds some milliseconds.
    check_within(rabbitscope_testing::latency_figure(&run, "settled", "p50") as f64, 10e6, 100e6);
}

#[test]
fn processed_messages_are_published_again_with_the_latency_of_the_whole_way() {
    let bench = Workbench::new("forward");
    let text = Scenario::new("forward")
        .queues(Queue::new("rs.first"))
        .queues(Queue::new("rs.second"))
        .queues(Queue::new("rs.third-{}").to(2))
        .publishers(Publishers::new("rs.first").rate(200).messages(400).size("100B"))
        .consumers(
            Consumers::new("rs.first")
                .name("relay")
                .prefetch(10)
                .processing_time("2ms")
                .concurrency(4)
                .forward(raw("{ queue = \"rs.second\", persistent = true }")),
        )
        .consumers(
            Consumers::new("rs.second")
                .name("splitter")
                .prefetch(10)
                .processing_time("50ms")
                .concurrency(100)
                .prefetch(100)
                .forward(raw("{ queue = \"rs.third-{}\", size = \"40B\", share = 0.5 }")),
        )
        .consumers(Consumers::new("rs.third-{}").name("last").count(2).prefetch(100));
    let run = bench.record(&text, 0);
    let published = count(&run, "published");
    let forwarded = published - 800;
    assert!((150..250).contains(&forwarded), "half of 400: {published}");
    assert_eq!((count(&run, "consumed"), count(&run, "redelivered")), (published, 0));
    assert_eq!(count(&run, "accepted"), published, "{run:#}");
    // Messages take 2 ms to the second queue, and 52 ms to the last one.
    let groups = run["breakdown"]["groups"].as_array().unwrap();
    let median = |name: &str| {
        let group = groups.iter().find(|group| group["group"] == name).unwrap();
        latency_figure(group, "end-to-end", "p50") / 1_000_000
    };
    let [relay, splitter, last] = ["relay", "splitter", "last"].map(median);
    assert!(relay < 25 && (2..50).contains(&splitter) && last >= 52, "{relay} {splitter} {last}");
}

#[test]
fn messages_to_forward_wait_while_an_alarm_holds() {
    let bench = Workbench::new("forward-alarm");
    let queues = Queue::new("rs.waiting").prefill(10_000).prefill_size("2KB");
    let relay = Consumers::new("rs.waiting").prefetch(2_000).rate(4_000);
    let text = Scenario::new("forward-alarm")
        .queues(queues)
        .queues(Queue::new("rs.passed"))
        .consumers(relay.name("relay").forward(raw("{ queue = \"rs.passed\" }")))
        .consumers(Consumers::new("rs.passed").name("last").prefetch(500))
        .faults(Fault::new("memory-alarm").at("1s").lasting("2s"))
        .duration("8s")
        .expect("blocked", "< 90%")
        .self_check(false);
    bench.file("s.toml", text);
    let run = bench.rabbitscope("run s.toml --out out --json").code(0).json();
    assert_eq!((count(&run, "published"), count(&run, "consumed")), (10_000, 20_000), "{run:#}");
    assert_eq!(count(&run, "accepted"), 10_000, "{run:#}");
    assert!(count(&run, "blocked-nanos") > 1_000_000_000, "{run:#}");
    let rows = bench.rows("out/series.jsonl");
    assert!(rows.iter().any(|row| row["published"] == 0 && row["second"] == 2), "{rows:#?}");
}
