//! Clients that publish and consume on one connection.

use rabbitscope_runs::scenario::Scenario;
use rabbitscope_wire::activity::Settlement;

use super::talk::{MILLIS, Owned, SECOND, Talk};

const SECONDS: u64 = 10;

/// The queues and predeclared exchanges to which a client publishes, and those that it reads.
type Queues = (&'static [&'static str], &'static [&'static str]);

const BOTH: Queues = (&["a"], &["in"]);
const PUBLISHES: Queues = (&["a"], &[]);
const READS: Queues = (&[], &["in"]);

/// A client on one connection: publishes to these queues by timers of its own, and reads this many consumers' queues.
fn client(talk: &mut Talk, number: u64, published: &[&str], read: &[&str]) {
    let connection = talk.connection(number, true);
    for queue in read {
        talk.client(
            number + 1,
            connection,
            Owned::Consume((*queue).to_owned(), (*queue).to_owned(), false),
        );
    }
    for (place, queue) in (0..).zip(published) {
        for at in (0..SECONDS * SECOND).step_by(50_000_000) {
            let bytes = 100 * (place + 1);
            let target = if queue.starts_with("amq.") { (*queue, "key") } else { ("", *queue) };
            talk.publish(at + 10 * MILLIS + 7 * number + place, connection, target, bytes);
        }
    }
    let mut last = 0;
    for at in (0..SECONDS * SECOND).step_by(37_000_000) {
        for queue in read {
            last += 1;
            talk.deliver(at + 20 * MILLIS + number, connection, queue, last);
            talk.client(
                at + 22 * MILLIS + number,
                connection,
                Owned::Settle(last, false, Settlement::Ack),
            );
        }
    }
}

/// Returns text and scenario of clients, each with the queues that it publishes to and reads.
fn scenario(clients: &[Queues]) -> (String, Scenario) {
    let mut talk = Talk::default();
    for (number, (published, read)) in (10..).step_by(10).zip(clients) {
        client(&mut talk, number, published, read);
    }
    talk.scenario()
}

/// Returns the groups that are on connections of others, with these.
fn hosts(scenario: &Scenario) -> Vec<(String, String)> {
    let layout = scenario.layout();
    let guests = layout.iter().filter(|of| of.host != of.name);
    guests.map(|of| (of.name.to_owned(), of.host.to_owned())).collect()
}

#[track_caller]
fn check(clients: &[Queues], expected: &[(&str, &str)], connections: u32) {
    let (text, scenario) = scenario(clients);
    let found = hosts(&scenario);
    let found: Vec<_> = found.iter().map(|(guest, host)| (&**guest, &**host)).collect();
    assert_eq!(found, expected, "{text}");
    let used: u32 = scenario.layout().iter().map(|of| of.connections).sum();
    assert_eq!(used, connections, "{text}");
    assert!(!text.contains("have several groups"), "{text}");
}

#[test]
fn clients_that_publish_and_consume_have_one_connection() {
    check(&[BOTH; 4], &[("consumers-1", "publishers-1")], 4);
    check(&[PUBLISHES, READS], &[], 2);
}

#[test]
fn the_larger_group_is_the_host() {
    check(&[BOTH, BOTH, READS], &[("publishers-1", "consumers-1")], 3);
    check(&[BOTH, BOTH, PUBLISHES], &[("consumers-1", "publishers-1")], 3);
}

#[test]
fn several_groups_share_connections() {
    let expected = [
        ("consumers-1", "publishers-1"),
        ("consumers-2", "publishers-1"),
        ("publishers-2", "publishers-1"),
    ];
    let clients: Queues = (&["a", "amq.fanout"], &["in", "other"]);
    check(&[clients; 3], &expected, 3);
}

#[test]
fn groups_with_some_connections_in_common_have_their_own() {
    let (text, scenario) = scenario(&[PUBLISHES, BOTH, READS]);
    assert_eq!(hosts(&scenario), [], "{text}");
    assert!(text.contains("1 connections have several groups"), "{text}");
}
