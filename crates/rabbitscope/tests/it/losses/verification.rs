//! `run.verify` against the broker: an honest run is judged to be honest. Messages that are deliberately lost,
//! doubled or out of order are found.

use rabbitscope_testing::{
    Ends, PUBLISH, Workbench, connect, count, existing_broker, own_broker, purge_queue,
    scenario::{Consumers, Exchange, Publishers, Queue, Scenario, raw},
    take,
};
use serde_json::Value;

#[track_caller]
fn found(run: &Value, key: &str) -> u64 {
    run["verification"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

/// Returns the counts of lost, duplicate, out-of-order and unjudged messages.
#[track_caller]
fn faults(run: &Value) -> [u64; 4] {
    ["lost", "duplicates", "out-of-order", "not-judged"].map(|key| found(run, key))
}

#[test]
fn an_honest_run_loses_nothing() {
    let bench = Workbench::new("honest");
    let text = Scenario::new("honest")
        .exchanges(Exchange::new("honest").of_type("topic"))
        .queues(Queue::new("honest-fan-1").bound("honest", "k.*"))
        .queues(Queue::new("honest-fan-2").bound("honest", "k.#"))
        .queues(Queue::new("honest-{}").to(5))
        .publishers(
            Publishers::through("honest", "k.1")
                .name("fan")
                .count(3)
                .connections(2)
                .messages(2000)
                .confirm_window(100),
        )
        .publishers(Publishers::new("honest-{}").name("spread").count(3).messages(2000))
        .consumers(
            Consumers::new("honest-fan-1").count(3).connections(2).prefetch(50).multi_ack_every(7),
        )
        .consumers(Consumers::new("honest-fan-2").name("behind").rate(5000).prefetch(100))
        .consumers(Consumers::new("honest-{}").name("polling").count(2).polling(true))
        .until("empty")
        .verify(true)
        .expect("lost", "== 0")
        .expect("duplicates", "== 0")
        .expect("out-of-order", "== 0");
    let run = bench.record(text, 0);
    assert_eq!(faults(&run), [0; 4], "{run:#}");
    assert_eq!((found(&run, "accepted"), found(&run, "still-queued")), (12_000, 0));
    assert_eq!(count(&run, "consumed"), 2 * 6_000 + 6_000);
    assert!(bench.read("out/report.html").contains("Of 12000 accepted messages 0 lost"));
}

#[test]
fn every_consumer_of_a_stream_gets_every_message() {
    let bench = Workbench::new("stream");
    let text = Scenario::new("stream")
        .queues(Queue::new("verified-stream").of_type("stream"))
        .publishers(
            Publishers::new("verified-stream")
                .count(2)
                .rate(1000)
                .messages(2000)
                .confirm_window(500),
        )
        .consumers(
            Consumers::new("verified-stream")
                .count(2)
                .prefetch(500)
                .arguments(raw(r#"{ x-stream-offset = "first" }"#)),
        )
        .consumers(
            Consumers::new("verified-stream")
                .name("from now on")
                .prefetch(500)
                .start_delay("700ms"),
        )
        .verify(true);
    let run = bench.record(text, 0);
    let [lost, duplicates, out_of_order, not_judged] = faults(&run);
    assert_eq!([lost, duplicates, out_of_order], [0; 3], "{run:#}");
    // Messages from before the third consumer are not owed to it. Messages from the time of its start cannot be
    // judged.
    assert!(not_judged < 100, "{run:#}");
    assert!((8_001..12_000).contains(&count(&run, "consumed")), "{run:#}");
}

/// A slow consumer, behind which messages pile up.
fn slow(queue: &str, rate: i64) -> Scenario {
    Scenario::with_queue(queue)
        .publishers(Publishers::new(queue).rate(1000).confirm_window(500))
        .consumers(Consumers::new(queue).rate(rate).prefetch(20))
        .duration("2s")
        .verify(true)
}

#[test]
fn what_is_left_in_the_queue_is_not_lost() {
    let bench = Workbench::new("left");
    let run = bench.record(slow("left", 60), 0);
    assert_eq!(faults(&run), [0; 4], "{run:#}");
    let left = count(&run, "confirmed") - count(&run, "consumed");
    assert!(left > 500, "{run:#}");
    assert_eq!(found(&run, "still-queued"), left, "{run:#}");
}

#[test]
fn what_is_purged_is_lost() {
    let bench = Workbench::new("purged");
    let scenario = slow("purged", 300).duration("4s").until("empty").expect("lost", "== 0");
    let running = bench.start_run_with(existing_broker(), scenario, "--json", 2);
    let purged = purge_queue(existing_broker(), "purged");
    let run = running.ended().code(3).json();
    assert!(purged > 500, "{purged}");
    assert_eq!(faults(&run), [purged, 0, 0, 0], "{run:#}");
    assert_eq!((count(&run, "lost"), found(&run, "still-queued")), (purged, 0));
    assert_eq!(run["expectations"][0]["measured"], purged.to_string());
}

#[test]
fn what_is_refused_comes_again_and_out_of_order() {
    let bench = Workbench::new("refused");
    let text = Scenario::with_queue("refused")
        .publishers(Publishers::new("refused").messages(100))
        .consumers(
            Consumers::new("refused").prefetch(10).multi_ack_every(10).nack(true).messages(50),
        )
        .verify(true);
    let run = bench.record(text, 0);
    let [lost, duplicates, out_of_order, not_judged] = faults(&run);
    assert_eq!([lost, duplicates, not_judged], [0; 3], "marked, they are no duplicates: {run:#}");
    assert!(out_of_order > 0, "{run:#}");
    assert_eq!(found(&run, "out-of-order-redelivered"), out_of_order);
    assert!(count(&run, "redelivered") >= 40, "{run:#}");
}

/// Another client takes messages from the queue and puts each back twice.
#[test]
fn copies_are_duplicates() {
    let bench = Workbench::new("copies");
    let text = Scenario::with_queue("copies")
        .publishers(Publishers::new("copies").messages(100).start_delay("300ms"))
        .consumers(Consumers::new("copies").start_delay("8s").prefetch(10).messages(107))
        .verify(true);
    let broker = existing_broker();
    let running = bench.start_run_with(broker, text, "--json", 1);
    let (mut client, channel) = connect(&broker.uri());
    let mut copies = String::new();
    for _ in 0..7 {
        let (_, body) = take(&mut client, channel, "copies").unwrap();
        let bytes: Vec<_> = body.iter().map(u8::to_string).collect();
        let publish = format!("Publish(<<\"/\">>, <<\"copies\">>, <<{}>>), ", bytes.join(","));
        copies += &publish.repeat(2);
    }
    client.close().unwrap();
    broker.eval(&format!("Publish = {PUBLISH}, {copies} ok")).unwrap();
    let run = running.ended().code(0).json();
    // Every copy follows the 93 remaining messages.
    assert_eq!(faults(&run), [0, 7, 14, 0], "{run:#}");
    assert_eq!(count(&run, "duplicates"), 7);
}

/// No confirmed message is lost when the broker and all connections crash. Duplicates were sent twice.
#[test]
fn a_crash_loses_nothing_that_was_confirmed() {
    let bench = Workbench::new("verified-crash");
    let mut broker = own_broker();
    let publishers = Publishers::new("verified-crash").count(3).connections(3).persistent(true);
    let publishers = publishers.confirm_window(200).rate(200);
    let text = Scenario::new("verified-crash")
        .queues(Queue::new("verified-crash").of_type("quorum"))
        .publishers(publishers.messages(2000).republish_unconfirmed(true))
        .consumers(Consumers::new("verified-crash").count(2).connections(2).prefetch(50))
        .duration("60s")
        .until("empty")
        .empty_timeout("20s")
        .verify(true)
        .recovery(true)
        .recovery_delay("250ms")
        .recovery_max_delay("1s")
        .expect("without-service", "< 90%");
    let running = bench.start_run_with(&broker, text, "--json", 2);
    broker.kill();
    broker.start_again().unwrap();
    let run = running.ended().code(0).json();
    assert!(count(&run, "reconnects") >= 5, "{run:#}");
    let left = ["lost", "not-judged", "still-queued"].map(|key| found(&run, key));
    assert_eq!(left, [0; 3], "{run:#}");
    assert_eq!(found(&run, "accepted"), 6_000, "{run:#}");
    assert!(found(&run, "duplicates-of-republished") <= count(&run, "republished"), "{run:#}");
}
