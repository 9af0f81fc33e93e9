//! Brokers that stop, die or lose a queue under load.

use std::{thread, time::Duration};

use rabbitscope_testing::{
    Ends as _, Workbench, broker_with, count, latency_figure,
    scenario::{Fault, Queue, Scenario},
};

use super::{PLUGIN, broker, consumers, is_native, publishers};
use crate::protocols::faults::{delete, kill, stop_for_four_seconds};

#[test]
fn a_broker_that_stops_for_four_seconds_is_not_left_out() {
    let load = Scenario::new("amqp10-pause")
        .queues(Queue::new("orders"))
        .publishers(publishers("orders").rate(200).confirm_window(100_000))
        .consumers(consumers("orders").prefetch(100));
    stop_for_four_seconds(load);
}

/// Messages without a confirm are sent again.
#[test]
fn a_killed_node_loses_no_confirmed_message() {
    let sending = publishers("orders").rate(2000).confirm_window(100_000).persistent(true);
    let load = Scenario::new("amqp10-kill")
        .queues(Queue::new("orders").of_type("quorum"))
        .publishers(sending.republish_unconfirmed(true).count(3).connections(2).messages(10_000))
        .consumers(consumers("orders").prefetch(200))
        .duration("120s");
    let run = kill(load, Fault::new("kill").at("2s").lasting("1s"));
    assert!(count(&run, "reconnects") >= 3, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 30_000);
    assert!(count(&run, "consumed") >= 30_000, "{run:#}");
}

/// Publishers and consumers find other nodes, and the queue has another leader.
#[test]
fn a_killed_leader_of_a_cluster_loses_no_confirmed_message() {
    let sending = publishers("orders").rate(1000).confirm_window(100_000).persistent(true);
    let load = Scenario::new("amqp10-leader")
        .nodes(3)
        .queues(Queue::new("orders").of_type("quorum"))
        .publishers(sending.republish_unconfirmed(true).count(2).connections(2).messages(6000))
        .consumers(consumers("orders").prefetch(200).count(2).connections(2))
        .until("empty");
    let fault = Fault::new("kill").node("leader").queue("orders").at("3s").lasting("2s");
    let run = kill(load, fault);
    assert!(count(&run, "reconnects") >= 1, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 12_000);
    assert_eq!(count(&run, "confirmed"), 12_000, "{run:#}");
    assert!(count(&run, "consumed") >= 12_000, "{run:#}");
}

/// From 4.0 on the broker says it by a window of 0. Before, it lets publishers of AMQP 1.0 go on.
#[test]
fn an_alarm_blocks_and_is_counted() {
    let broker = broker_with(|spec| spec.plugins.push(PLUGIN.to_owned()));
    let bench = Workbench::new("amqp10-alarm");
    let scenario = Scenario::new("amqp10-alarm")
        .queues(Queue::new("orders"))
        .publishers(publishers("orders").rate(200).confirm_window(100_000))
        .consumers(consumers("orders").prefetch(100))
        .expect("blocked", "< 90%")
        .verify(true)
        .duration("6s");
    let running = bench.start_run(&broker, scenario, 1);
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.00001).").unwrap();
    thread::sleep(Duration::from_secs(2));
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.4).").unwrap();
    let text = running.ended().code(0).stdout;
    assert!(text.contains(" 0 lost, 0 duplicates, 0 out of order"), "{text}");
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "confirmed"), count(&run, "scheduled"), "{run:#}");
    if is_native() {
        assert!(latency_figure(&run, "confirm-intended", "p99") > 1_000_000_000, "{run:#}");
        assert!(count(&run, "blocked-nanos") > 1_000_000_000, "{run:#}");
        assert!(count(&run, "alarm-nanos") > 1_000_000_000, "{run:#}");
    }
}

#[test]
fn a_deleted_queue_ends_the_run_with_its_name() {
    let load = Scenario::new("amqp10-deleted")
        .queues(Queue::new("deleted-1"))
        .publishers(publishers("deleted-1").rate(100).confirm_window(100))
        .consumers(consumers("deleted-1").prefetch(10));
    // The plugin of 3.x fails without a word.
    let reason = if is_native() { "deleted-1`" } else { "connection to the broker broke" };
    delete(broker(), "deleted-1", load, reason);
}
