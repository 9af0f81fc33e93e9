//! Messages that no queue takes, and messages that consumers refuse.

use rabbitscope_testing::{
    Workbench, count, depth, not_run,
    scenario::{Queue, Scenario, raw},
};

use super::{broker, consumers, is_native, publishers, through};

#[test]
fn messages_without_a_queue_are_returned() {
    let bench = Workbench::new("amqp10-unroutable");
    let scenario = Scenario::new("amqp10-unroutable")
        .publishers(through("amq.topic", "nobody/x").messages(500).confirm_window(100))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    // Before 4.0 the broker accepts what it drops.
    let returned = if is_native() { 500 } else { 0 };
    assert_eq!((count(&run, "returned"), count(&run, "confirmed")), (returned, 500));
    assert_eq!((count(&run, "nacked"), count(&run, "unanswered")), (0, 0));
}

#[test]
fn refused_messages_are_dead_letters_or_come_again() {
    let bench = Workbench::new("amqp10-refused");
    let dead = raw("{ x-dead-letter-exchange = \"amq.fanout\" }");
    let scenario = Scenario::new("amqp10-refused")
        .queues(Queue::new("refused").arguments(dead))
        .queues(Queue::new("dead").bound("amq.fanout", "").keep(true))
        .publishers(publishers("refused").messages(400).confirm_window(100))
        .consumers(consumers("refused").prefetch(20).nack(true).requeue(false).messages(400))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "rejected"), count(&run, "redelivered")), (400, 0));
    assert_eq!(depth(broker(), "dead"), "400");
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let again = Scenario::new("amqp10-again")
        .queues(Queue::new("again"))
        .publishers(publishers("again").messages(50).confirm_window(100))
        .consumers(consumers("again").prefetch(20).nack(true).messages(400))
        .duration("60s");
    bench.run_on(broker(), again, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "rejected"), 400);
    assert!(count(&run, "redelivered") >= 300, "{run:#}");
}

/// Answers are in any order: accepted, rejected, and accepted again while a consumer makes room.
#[test]
fn a_full_queue_rejects_messages() {
    if !is_native() {
        return not_run("the plugin of 3.10 fails when a queue rejects a message");
    }
    let bench = Workbench::new("amqp10-full");
    let short = raw("{ x-max-length = 20, x-overflow = \"reject-publish\" }");
    let scenario = Scenario::new("amqp10-full")
        .queues(Queue::new("full").arguments(short))
        .publishers(publishers("full").messages(3000).confirm_window(300))
        .consumers(consumers("full").prefetch(5).processing_time("1ms"))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(text.contains(" 0 lost, 0 duplicates, 0 out of order"), "{text}");
    let run = bench.json("out/run.json");
    let (confirmed, nacked) = (count(&run, "confirmed"), count(&run, "nacked"));
    assert_eq!(confirmed + nacked, 3000, "{run:#}");
    assert!(nacked > 1000 && confirmed >= 20, "{confirmed} confirmed, {nacked} nacked");
    assert_eq!(count(&run, "consumed"), confirmed);
}
