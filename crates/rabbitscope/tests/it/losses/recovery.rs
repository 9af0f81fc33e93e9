//! Connections that are lost during the load.

use std::{collections::HashSet, process::Child};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ends, Workbench, close_connections, connect, count, own_broker,
    scenario::{Consumers, Publishers, Queue, Scenario},
    take,
};
use serde_json::Value;

#[track_caller]
fn finish(child: Child) -> Value {
    child.ended().code(0).json()
}

#[test]
fn connections_that_are_closed_come_back_and_the_gap_shows() {
    let bench = Workbench::new("losses");
    let broker = own_broker();
    let publishers = Publishers::new("losses").count(4).connections(2).confirm_window(100);
    let scenario = Scenario::new("losses")
        .queues(Queue::new("losses").transient())
        .publishers(publishers.rate(500))
        .consumers(Consumers::new("losses").prefetch(100))
        .duration("6s")
        .self_check(false)
        .recovery(true)
        .recovery_delay("500ms")
        .expect("without-service", "< 90%");
    let child = bench.start_run_with(&broker, scenario, "--json", 1);
    // The session's own connection is among them.
    close_connections(&broker);
    let run = finish(child);
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert_eq!(count(&run, "reconnects"), 3);
    assert!(count(&run, "down-nanos") > 3 * 250_000_000, "{run:#}");
    let answered = ["confirmed", "nacked", "unanswered", "unconfirmed"];
    let answered: u64 = answered.map(|key| count(&run, key)).iter().sum();
    assert_eq!(count(&run, "published"), answered, "{run:#}");
    // The load catches up with its schedule of 2000 a second.
    assert!(count(&run, "published") > 11_000, "{run:#}");
    let rows = bench.rows("out/series.jsonl");
    assert_eq!(rows[0]["connections"], 3);
    assert!(rows.iter().any(|row| row["down-nanos"].as_u64() > Some(0)), "{rows:#?}");
    let last = rows.iter().rfind(|row| row["draining"] == false).unwrap();
    assert_eq!(last["connections"], 3, "{rows:#?}");
}

/// Kills the broker of a confirmed persistent load on a durable queue of this type, and starts it again on the same
/// data.
#[track_caller]
fn survives_a_crash(queue_type: &str, republish: bool) {
    let bench = Workbench::new(&format!("crash-{queue_type}-{republish}"));
    let mut broker = own_broker();
    let publishers = Publishers::new("crash").count(3).connections(3).persistent(true);
    let publishers = publishers.confirm_window(200).rate(200);
    let text = Scenario::new("crash")
        .queues(Queue::new("crash").of_type(queue_type).keep(true))
        .publishers(publishers.republish_unconfirmed(republish).messages(2000))
        .duration("90s")
        .self_check(false)
        .recovery(true)
        .recovery_delay("250ms")
        .recovery_max_delay("1s")
        .expect("without-service", "< 90%");
    let child = bench.start_run_with(&broker, &text, "--json", 2);
    broker.kill();
    broker.start_again().unwrap();
    let run = finish(child);
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert!(count(&run, "reconnects") >= 3, "{run:#}");
    let rows = bench.rows("out/series.jsonl");
    assert!(rows.iter().any(|row| row["connections"] == 0), "the gap is not visible: {rows:#?}");

    // Every message is confirmed, refused, or counted as unanswered; none is missing from the sum.
    let answered = ["confirmed", "nacked", "unanswered", "unconfirmed"];
    let answered: u64 = answered.map(|key| count(&run, key)).iter().sum();
    assert_eq!(count(&run, "published"), answered, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 6_000, "{run:#}");
    if republish {
        assert_eq!(count(&run, "republished"), count(&run, "unanswered"), "{run:#}");
        let losses = run["losses"].to_string();
        assert!(!losses.contains("may be lost"), "what was sent again is not: {losses}");
    }

    // Each confirmed message is on the queue once, or twice if it was sent again. An unconfirmed message may be
    // there.
    let (distinct, all) = drained(&broker);
    let (confirmed, unanswered) = (count(&run, "confirmed"), count(&run, "unanswered"));
    assert!(all >= confirmed, "{all} messages, {confirmed} confirmed");
    assert!(all <= confirmed + unanswered, "{all} messages, {confirmed} + {unanswered} sent");
    if republish {
        assert_eq!(distinct, 6_000, "with republishing, every message is there");
    } else {
        assert_eq!(distinct, all, "nothing is there twice");
    }
}

/// Reads the queue `crash` to its end; returns the number of distinct messages, and of all. The last 28 bits of a
/// stamp are publisher and number; a message that is sent again has a different time.
fn drained(broker: &Broker) -> (u64, u64) {
    let (mut client, channel) = connect(&broker.uri());
    let (mut bodies, mut all) = (HashSet::new(), 0);
    while let Some((_, body)) = take(&mut client, channel, "crash") {
        all += 1;
        let last: [u8; 4] = body[8..12].try_into().unwrap();
        bodies.insert(u32::from_be_bytes(last) & 0x0fff_ffff);
    }
    (bodies.len() as u64, all)
}

#[test]
fn no_confirmed_message_of_a_classic_queue_is_lost_in_a_crash() {
    survives_a_crash("classic", false);
}

#[test]
fn no_message_of_a_quorum_queue_is_lost_when_it_is_sent_again() {
    survives_a_crash("quorum", true);
}
