//! Brokers that stop, die or lose a stream under load.

use super::{broker, publishers, readers, stream};
use rabbitscope_testing::{
    Workbench, count, delete_queue, latency_figure,
    scenario::{Fault, Scenario},
};

/// Every scheduled message is accounted for, and waits for as long as the broker.
#[test]
fn a_broker_that_stops_for_four_seconds_is_not_left_out() {
    let bench = Workbench::new("streams-pause");
    let scenario = Scenario::new("streams-pause")
        .queues(stream("orders"))
        .publishers(publishers("orders").rate(200).confirm_window(100_000))
        .consumers(readers("orders"))
        .faults(Fault::new("pause").at("2s").lasting("4s"))
        .verify(true)
        .duration("9s");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    let text = &ended.stdout;
    assert!(text.contains("0 lost, 0 duplicates, 0 out of order"), "{text}{}", ended.stderr);
    let run = bench.json("out/run.json");
    let scheduled = count(&run, "scheduled");
    assert!((1780..=1840).contains(&scheduled), "{scheduled}");
    assert_eq!(count(&run, "confirmed"), scheduled);
    let p99 = latency_figure(&run, "confirm-intended", "p99");
    assert!((3_500_000_000..6_000_000_000).contains(&p99), "{p99}");
    let (late, by_client) = (count(&run, "late"), count(&run, "late-by-client"));
    assert!(by_client * 4 <= scheduled, "{by_client} of {late} by the client");
}

/// All that a killed node had confirmed is there. Messages without a confirm are sent again under their old numbers, and the stream drops those that it has.
#[test]
fn with_a_reference_no_message_comes_twice() {
    let bench = Workbench::new("streams-reference");
    let twice = publishers("orders").rate(20_000).confirm_window(100_000);
    let scenario = Scenario::new("streams-reference")
        .queues(stream("orders"))
        .publishers(twice.republish_unconfirmed(true).reference(true).count(3).messages(200_000))
        .consumers(readers("orders").messages(600_000))
        .faults(Fault::new("kill").at("3s").lasting("1s"))
        .recovery(true)
        .verify(true)
        .duration("120s");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    assert!(ended.stdout.contains(" 0 lost, 0 duplicates, 0 out of order"), "{}", ended.stdout);
    let run = bench.json("out/run.json");
    assert!(count(&run, "republished") > 0, "{run:#}");
    assert!(count(&run, "reconnects") >= 2, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 600_000);
    assert_eq!(count(&run, "consumed"), 600_000);
}

/// A message that is sent again goes to the partition that may have it already.
#[test]
fn with_a_reference_no_message_of_a_super_stream_comes_twice() {
    let bench = Workbench::new("streams-super-reference");
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"orders\"\ncount = 2\nmessages = 50000\n\
                 random-routing-keys = 37\nrate = 10000\nconfirm-window = 100000\nreference = true\n\
                 republish-unconfirmed = true\n";
    let scenario = Scenario::new("streams-super-reference")
        .queues(stream("orders").partitions(3))
        .consumers(readers("orders").member_queues("all").messages(100_000))
        .faults(Fault::new("kill").at("3s").lasting("1s"))
        .recovery(true)
        .verify(true)
        .duration("120s")
        .text(keyed);
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    assert!(ended.stdout.contains(" 0 lost, 0 duplicates, 0 out of order"), "{}", ended.stdout);
    let run = bench.json("out/run.json");
    assert!(count(&run, "republished") > 0, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 100_000);
    assert_eq!(count(&run, "consumed"), 100_000);
}

/// Publishers follow the leader to its new node, readers find another replica.
#[test]
fn a_killed_leader_of_a_cluster_loses_no_confirmed_message() {
    let bench = Workbench::new("streams-leader");
    let scenario = Scenario::new("streams-leader")
        .nodes(3)
        .queues(stream("orders"))
        .publishers(
            publishers("orders")
                .rate(1000)
                .messages(12_000)
                .confirm_window(100_000)
                .republish_unconfirmed(true)
                .reference(true),
        )
        .consumers(readers("orders").count(2).connections(2).messages(12_000))
        .faults(Fault::new("kill").node("leader").queue("orders").at("4s").lasting("2s"))
        .recovery(true)
        .verify(true)
        .duration("120s");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    assert!(ended.stdout.contains(" 0 lost, 0 duplicates, 0 out of order"), "{}", ended.stdout);
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "consumed"), 24_000, "{run:#}");
}

#[test]
fn a_deleted_stream_ends_the_run_with_its_name() {
    let bench = Workbench::new("streams-deleted");
    let scenario = Scenario::new("streams-deleted")
        .queues(stream("deleted-1"))
        .publishers(publishers("deleted-1").rate(100))
        .consumers(readers("deleted-1"))
        .duration("60s");
    let running = bench.start_run(broker(), scenario, 2);
    delete_queue(broker(), "deleted-1");
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("stream `deleted-1`"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}
