//! Other sizes of a load.

use rabbitscope_runs::scenario::{self, Scenario};

use super::talk::{MILLIS, Owned, SECOND, Talk};
use crate::{Origin, Scale, Topology, model};

fn scaled(talk: &Talk, rates: f64, connections: f64) -> (String, Scenario) {
    let mut model = model(&mut talk.observed().finish(), Topology::default());
    model.scale(Scale { rates, connections });
    let text = crate::scenario(
        &model,
        &Origin { name: "t".to_owned(), ..Origin::default() },
        crate::RunLength::from_seconds(10),
    );
    let read = scenario::parse(&text, "test", &[]);
    (text.clone(), read.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// Twenty timers, three timers of another size, and one source of bursts.
fn load() -> Talk {
    let mut talk = Talk::default();
    for client in 0..24_u64 {
        let connection = talk.connection(client, true);
        talk.client(client + 1, connection, Owned::Declare("q".to_owned(), true));
        for number in 1..200 {
            let (at, bytes) = match client {
                0..20 => (number * 50 * MILLIS, 100),
                20..23 => (number * 50 * MILLIS, 4_096),
                _ => (number / 10 * 500 * MILLIS + number % 10 * 10_000, 16),
            };
            talk.publish(at + 100 + client, connection, ("", "q"), bytes);
        }
    }
    talk
}

fn check(rates: f64, connections: f64, expected: [(u32, f64, u32); 2], burst: (u32, f64)) {
    let (text, scenario) = scaled(&load(), rates, connections);
    for (bytes, (count, rate, of)) in [(100, expected[0]), (4_096, expected[1])] {
        let group = scenario.publishers.iter().find(|group| group.size == Some(bytes));
        let group = group.unwrap_or_else(|| panic!("{text}"));
        assert_eq!((group.count, group.connections), (count, of), "{text}");
        assert!((group.rate.unwrap() / rate - 1.0).abs() < 0.01, "{rate}\n{text}");
    }
    let phases = scenario.publishers.iter().find_map(|group| group.phases.first());
    let phase = phases.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(phase.burst, Some(burst.0), "{text}");
    let every = phase.every.unwrap().as_secs_f64();
    assert!((every / burst.1 - 1.0).abs() < 0.05, "{every}\n{text}");
}

#[test]
fn rates_and_connections_change() {
    check(1.0, 1.0, [(20, 20.0, 20), (3, 20.0, 3)], (10, 0.5));
    check(0.5, 1.0, [(20, 10.0, 20), (3, 10.0, 3)], (5, 0.5));
    // A burst has one message at least, at a longer period.
    check(0.05, 1.0, [(20, 1.0, 20), (3, 1.0, 3)], (1, 1.0));
    // Of three clients remains one with the rate of 0.3 of them.
    check(1.0, 0.1, [(2, 20.0, 2), (1, 6.0, 1)], (1, 0.5));
    check(2.0, 0.1, [(2, 40.0, 2), (1, 12.0, 1)], (2, 0.5));
}

#[test]
fn publishers_that_stop_have_a_number_of_messages() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    let lasting = talk.connection(0, true);
    for number in 1..500 {
        talk.publish(number * 20 * MILLIS, lasting, ("", "lasting"), 10);
        if number <= 40 {
            talk.publish(number * 20 * MILLIS + 1, connection, ("", "stopped"), 10);
        }
    }
    let (text, scenario) = talk.scenario();
    let of = |queue: &str| scenario.publishers.iter().find(|group| group.routing_key() == queue);
    assert_eq!(of("stopped").unwrap().messages, Some(40), "{text}");
    assert_eq!(of("lasting").unwrap().messages, None, "{text}");
}

#[test]
fn the_file_says_so() {
    let (text, _) = scaled(&load(), 0.5, 0.1);
    for part in
        ["# Scaled:", "# - rates × 0.5:", "# - connections × 0.1:", "20 publishers on 20 conn"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let (text, _) = scaled(&load(), 1.0, 1.0);
    assert!(!text.contains("Scaled"), "{text}");
}

#[test]
fn a_closed_loop_that_is_scaled_down_has_an_upper_limit() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut at = MILLIS;
    for number in 1..=2_000_u64 {
        talk.publish(at, connection, ("", "q"), 100);
        at += MILLIS + number * 7_919 % MILLIS;
        talk.confirm(at, connection, number, false);
        at += 20_000;
    }
    let (text, scenario) = scaled(&talk, 0.5, 1.0);
    let group = &scenario.publishers[0];
    assert_eq!(group.confirm_window, Some(1), "{text}");
    let expected = 0.5 * 2_000.0 / (at as f64 / SECOND as f64);
    assert!((group.rate.unwrap() / expected - 1.0).abs() < 0.02, "{text}");
    assert_eq!(scaled(&talk, 2.0, 1.0).1.publishers[0].rate, None);
}

#[test]
fn each_queue_keeps_a_reader() {
    let mut talk = Talk::default();
    for client in 0..30 {
        let connection = talk.connection(client, true);
        let queue = format!("jobs-{}", client + 1);
        talk.client(client + 1, connection, Owned::Declare(queue.clone(), true));
        talk.client(client + 2, connection, Owned::Consume(queue, "t".to_owned(), true));
        for number in 1..40 {
            talk.deliver(number * 100 * MILLIS, connection, "t", number);
        }
    }
    let (text, scenario) = scaled(&talk, 1.0, 0.1);
    let group = &scenario.consumers[0];
    assert_eq!((group.count, group.connections, group.channels), (30, 3, 10), "{text}");
}
