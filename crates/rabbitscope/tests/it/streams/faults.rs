//! Brokers that stop, die or lose a stream under load.

use rabbitscope_testing::{
    count,
    scenario::{Fault, Scenario},
};

use super::{broker, publishers, readers, stream};
use crate::protocols::faults::{delete, kill_exactly, stop_for_four_seconds};

#[test]
fn a_broker_that_stops_for_four_seconds_is_not_left_out() {
    let load = Scenario::new("streams-pause")
        .queues(stream("orders"))
        .publishers(publishers("orders").rate(200).confirm_window(100_000))
        .consumers(readers("orders"));
    stop_for_four_seconds(load);
}

/// All that a killed node had confirmed is there. Messages without a confirm are sent again under their old numbers, and the stream drops those that it has.
#[test]
fn with_a_reference_no_message_comes_twice() {
    let twice = publishers("orders").rate(20_000).confirm_window(100_000);
    let load = Scenario::new("streams-reference")
        .queues(stream("orders"))
        .publishers(twice.republish_unconfirmed(true).reference(true).count(3).messages(200_000))
        .consumers(readers("orders").messages(600_000))
        .duration("120s");
    let run = kill_exactly(load, Fault::new("kill").at("3s").lasting("1s"));
    assert!(count(&run, "republished") > 0, "{run:#}");
    assert!(count(&run, "reconnects") >= 2, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 600_000);
    assert_eq!(count(&run, "consumed"), 600_000);
}

/// A message that is sent again goes to the partition that may have it already.
#[test]
fn with_a_reference_no_message_of_a_super_stream_comes_twice() {
    let keyed = "[[publishers]]\nprotocol = \"stream\"\nexchange = \"orders\"\ncount = 2\nmessages = 50000\n\
                 random-routing-keys = 37\nrate = 10000\nconfirm-window = 100000\nreference = true\n\
                 republish-unconfirmed = true\n";
    let load = Scenario::new("streams-super-reference")
        .queues(stream("orders").partitions(3))
        .consumers(readers("orders").member_queues("all").messages(100_000))
        .duration("120s")
        .text(keyed);
    let run = kill_exactly(load, Fault::new("kill").at("3s").lasting("1s"));
    assert!(count(&run, "republished") > 0, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 100_000);
    assert_eq!(count(&run, "consumed"), 100_000);
}

/// Publishers follow the leader to its new node, readers find another replica.
#[test]
fn a_killed_leader_of_a_cluster_loses_no_confirmed_message() {
    let load = Scenario::new("streams-leader")
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
        .duration("120s");
    let run = kill_exactly(
        load,
        Fault::new("kill").node("leader").queue("orders").at("4s").lasting("2s"),
    );
    assert_eq!(count(&run, "consumed"), 24_000, "{run:#}");
}

#[test]
fn a_deleted_stream_ends_the_run_with_its_name() {
    let load = Scenario::new("streams-deleted")
        .queues(stream("deleted-1"))
        .publishers(publishers("deleted-1").rate(100))
        .consumers(readers("deleted-1"));
    delete(broker(), "deleted-1", load, "stream `deleted-1`");
}
