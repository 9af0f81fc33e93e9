//! Consumers of known kinds.

use std::time::Duration;

use rabbitscope_runs::{
    Random,
    scenario::{Scenario, Settle},
};
use rabbitscope_wire::activity::Settlement;

use super::talk::{MILLIS, Owned, SECOND, Step, Talk};
use crate::Topology;

/// Returns the connection of a consumer with this prefetch.
fn consumer(talk: &mut Talk, prefetch: u16) -> u64 {
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Qos(prefetch, false));
    talk.client(2, connection, Owned::Consume("q".to_owned(), "t".to_owned(), false));
    connection
}

/// A consumer with a backlog or with bursts: `arrivals` are the times of its deliveries. Returns its acknowledgements.
fn sequential(talk: &mut Talk, arrivals: &[u64], mut time: impl FnMut() -> u64, how: Settlement) {
    let connection = consumer(talk, 20);
    let mut free = 0;
    for (number, arrival) in (1_u64..).zip(arrivals) {
        let begin = free.max(*arrival);
        free = begin + time();
        talk.deliver(*arrival, connection, "t", number);
        talk.client(free, connection, Owned::Settle(number, false, how));
    }
}

fn bursts() -> Vec<u64> {
    (0..500).map(|number| 10 + number / 50 * SECOND + number % 50 * 1_000).collect()
}

#[test]
fn processing_time_is_not_the_time_to_the_acknowledgement() {
    let mut talk = Talk::default();
    // The median from delivery to acknowledgement is some 250 ms.
    sequential(&mut talk, &bursts(), || 10 * MILLIS, Settlement::Ack);
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.consumers[..] else { panic!("{text}") };
    let time = group.processing_time.unwrap();
    assert!(time.abs_diff(Duration::from_millis(10)) < Duration::from_micros(300), "{time:?}");
    assert_eq!((group.prefetch, group.auto_ack, group.settle()), (Some(20), false, Settle::Ack));
}

/// Returns the quantile of the times of the only consumer, in seconds.
fn quantile(scenario: &Scenario, wanted: f64) -> f64 {
    let shares = scenario.consumers[0].processing_time_shares.as_deref().unwrap();
    let mut sum = 0.0;
    let reached = shares.iter().find(|one| {
        sum += one.share;
        sum >= wanted
    });
    reached.unwrap().time.as_secs_f64()
}

#[test]
fn varied_processing_keeps_its_distribution() {
    let mut talk = Talk::default();
    let mut random = Random::new(2);
    let arrivals: Vec<u64> = (0..2_000).map(|number| 10 + number * 12 * MILLIS).collect();
    sequential(&mut talk, &arrivals, || MILLIS + random.below(19 * MILLIS), Settlement::Ack);
    let (text, scenario) = talk.scenario();
    for (wanted, expected) in [(0.525, 0.01098), (0.905, 0.0182), (0.985, 0.01972)] {
        let time = quantile(&scenario, wanted);
        assert!((time / expected - 1.0).abs() < 0.05, "{wanted}: {time}\n{text}");
    }
    let shares = scenario.consumers[0].processing_time_shares.as_deref().unwrap();
    let mean: f64 = shares.iter().map(|one| one.time.as_secs_f64() * one.share).sum();
    assert!((mean / 0.0105 - 1.0).abs() < 0.03, "{mean}");
}

/// Workers that share a consumer, each of which takes 5 to 15 ms.
fn parallel(talk: &mut Talk, workers: usize, arrivals: &[u64]) {
    let mut random = Random::new(3);
    let connection = consumer(talk, 200);
    let mut free = vec![0; workers];
    for (number, arrival) in (1_u64..).zip(arrivals) {
        let first = free.iter_mut().min().unwrap();
        *first = *arrival.max(first) + 5 * MILLIS + random.below(10 * MILLIS);
        talk.deliver(*arrival, connection, "t", number);
        talk.client(*first, connection, Owned::Settle(number, false, Settlement::Ack));
    }
}

#[test]
fn workers_of_a_consumer_are_counted_with_their_times() {
    // Messages that hardly wait, and bursts that keep all workers busy.
    let steady: Vec<u64> = (1..4_000).map(|number| number * 8 * MILLIS).collect();
    for (arrivals, workers) in [(&steady, 4), (&bursts(), 4), (&bursts(), 3)] {
        let mut talk = Talk::default();
        parallel(&mut talk, workers, arrivals);
        let (text, scenario) = talk.scenario();
        let found = scenario.consumers[0].concurrency as usize;
        // Of the steady messages, at most two overlap.
        let expected = if arrivals.len() > 1_000 { 2 } else { workers };
        assert_eq!(found, expected, "{text}");
        for (wanted, expected) in [(0.1, 0.006), (0.525, 0.0102), (0.905, 0.014)] {
            let time = quantile(&scenario, wanted);
            assert!((time / expected - 1.0).abs() < 0.08, "{wanted}: {time}\n{text}");
        }
    }
}

#[test]
fn rare_long_processing_keeps_its_share_and_the_mean() {
    let mut talk = Talk::default();
    let mut random = Random::new(5);
    let arrivals: Vec<u64> = (0..2_000).map(|number| 10 + number * 40 * MILLIS).collect();
    let time = || if random.below(50) == 0 { 200 * MILLIS } else { 5 * MILLIS };
    sequential(&mut talk, &arrivals, time, Settlement::Ack);
    let (text, scenario) = talk.scenario();
    let shares = scenario.consumers[0].processing_time_shares.as_deref().unwrap();
    let long: f64 =
        shares.iter().filter(|one| one.time.as_millis() > 150).map(|one| one.share).sum();
    assert!((0.01..0.03).contains(&long), "{long}\n{text}");
    assert!((quantile(&scenario, 0.5) / 0.005 - 1.0).abs() < 0.05, "{text}");
}

#[test]
fn refusals_are_those_of_the_consumer() {
    for (how, expected) in [
        (Settlement::Nack { requeue: true }, Settle::Requeue),
        (Settlement::Reject { requeue: true }, Settle::Requeue),
        (Settlement::Nack { requeue: false }, Settle::Discard),
    ] {
        let mut talk = Talk::default();
        sequential(&mut talk, &bursts(), || 1_000, how);
        let (text, scenario) = talk.scenario();
        assert_eq!(scenario.consumers[0].settle(), expected, "{text}");
        assert_eq!(scenario.consumers[0].processing_time, None, "{text}");
    }
}

#[test]
fn some_refusals_have_their_share() {
    for requeue in [true, false] {
        let mut talk = Talk::default();
        let connection = talk.connection(0, true);
        talk.client(1, connection, Owned::Qos(20, false));
        talk.client(2, connection, Owned::Consume("q".to_owned(), "t".to_owned(), false));
        for number in 1..=1_000_u64 {
            let at = number * 10 * MILLIS;
            let how = match number % 5 {
                0 => Settlement::Nack { requeue },
                _ => Settlement::Ack,
            };
            talk.deliver(at, connection, "t", number);
            talk.client(at + 50_000, connection, Owned::Settle(number, false, how));
        }
        let (text, scenario) = talk.scenario();
        let group = &scenario.consumers[0];
        assert_eq!((group.nack, group.requeue), (true, Some(requeue)), "{text}");
        let share = group.nack_share.unwrap();
        assert!((share - 0.2).abs() < 0.01, "{share}");
    }
}

#[test]
fn messages_are_requeued_beside_dropped_ones() {
    for (acknowledged, expected) in [(true, Some(0.5)), (false, None)] {
        let mut talk = Talk::default();
        let connection = consumer(&mut talk, 20);
        for number in 1..=1_000_u64 {
            let how = match number % 10 {
                0..2 => Settlement::Nack { requeue: true },
                2..5 => Settlement::Reject { requeue: false },
                5..10 if acknowledged => Settlement::Ack,
                other => Settlement::Nack { requeue: other % 5 < 2 },
            };
            let at = number * 10 * MILLIS;
            talk.deliver(at, connection, "t", number);
            talk.client(at + 50_000, connection, Owned::Settle(number, false, how));
        }
        let (text, scenario) = talk.scenario();
        let group = &scenario.consumers[0];
        assert_eq!((group.nack, group.nack_share), (true, expected), "{text}");
        assert!((group.requeue_share.unwrap() - 0.4).abs() < 0.001, "{text}");
        assert!(!text.contains("Not expressed: "), "{text}");
    }
}

#[test]
fn acknowledgements_of_several_have_their_number() {
    let mut talk = Talk::default();
    let connection = consumer(&mut talk, 100);
    for number in 1..=1_000_u64 {
        let at = number * MILLIS;
        talk.deliver(at, connection, "t", number);
        if number % 25 == 0 {
            talk.client(at + 50_000, connection, Owned::Settle(number, true, Settlement::Ack));
        }
    }
    let (text, scenario) = talk.scenario();
    let group = &scenario.consumers[0];
    assert_eq!((group.multi_ack_every, group.processing_time), (25, None), "{text}");
}

#[test]
fn parallel_workers_are_named() {
    let mut talk = Talk::default();
    let connection = consumer(&mut talk, 4);
    let mut random = Random::new(4);
    let mut free = [0_u64; 4];
    for number in 1..=2_000_u64 {
        let worker = (0..4).min_by_key(|worker| free[*worker]).unwrap();
        let begin = free[worker].max(3);
        free[worker] = begin + 5 * MILLIS + random.below(10 * MILLIS);
        talk.deliver(begin, connection, "t", number);
        talk.client(free[worker], connection, Owned::Settle(number, false, Settlement::Ack));
    }
    let (text, scenario) = talk.scenario();
    assert!(text.contains("workers share a consumer"), "{text}");
    assert_eq!(scenario.consumers[0].concurrency, 4, "{text}");
    assert!((quantile(&scenario, 0.525) / 0.0102 - 1.0).abs() < 0.08, "{text}");
}

#[test]
fn rare_workers_lose_no_measurements() {
    let mut talk = Talk::default();
    let connection = consumer(&mut talk, 20);
    for number in 1..=1_000_u64 {
        let at = number * 10 * MILLIS;
        // Of the messages behind the first half, a fortieth is overtaken.
        let time = if number > 500 && number % 40 == 0 { 14 } else { 3 };
        talk.deliver(at, connection, "t", number);
        let settle = Owned::Settle(number, false, Settlement::Ack);
        talk.client(at + time * MILLIS, connection, settle);
    }
    let (text, _) = talk.scenario();
    let measured = text.split("Processing time of ").nth(1).unwrap();
    let measured = measured.split(' ').next().unwrap().replace(',', "");
    assert!(measured.parse::<u64>().unwrap() > 980, "{text}");
}

#[test]
fn a_message_that_is_never_settled_is_no_worker() {
    let mut talk = Talk::default();
    let connection = consumer(&mut talk, 20);
    talk.deliver(5, connection, "t", 1);
    for number in 2..=1_000_u64 {
        let at = number * 10 * MILLIS;
        talk.deliver(at, connection, "t", number);
        let settle = Owned::Settle(number, false, Settlement::Ack);
        talk.client(at + 4 * MILLIS, connection, settle);
    }
    let (text, scenario) = talk.scenario();
    assert_eq!(scenario.consumers[0].concurrency, 1, "{text}");
    let time = scenario.consumers[0].processing_time.unwrap();
    assert!(time.abs_diff(Duration::from_millis(4)) < Duration::from_micros(300), "{time:?}");
}

#[test]
fn a_consumer_from_before_the_capture_is_assumed() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    for number in 1..=300_u64 {
        let at = number * 10 * MILLIS;
        talk.deliver(at, connection, "t", 4_000 + number);
        talk.client(
            at + 4 * MILLIS,
            connection,
            Owned::Settle(4_000 + number, false, Settlement::Ack),
        );
    }
    let (text, scenario) = talk.scenario();
    let group = &scenario.consumers[0];
    assert_eq!((group.queue.as_str(), group.prefetch), ("q", Some(1)), "{text}");
    assert!(text.contains("# Assumed:") && text.contains("Assumed: the capture"), "{text}");
}

#[test]
fn missing_bytes_lead_to_no_wrong_times() {
    let mut talk = Talk::default();
    sequential(&mut talk, &bursts(), || 10 * MILLIS, Settlement::Ack);
    // An acknowledgement after a gap settles a message that was delivered before.
    talk.step(3 * SECOND + 100 * MILLIS, Step::Missed(0));
    talk.step(20 * SECOND, Step::Ended(0));
    let (text, scenario) = talk.scenario();
    let time = scenario.consumers[0].processing_time.unwrap();
    assert!(time.abs_diff(Duration::from_millis(10)) < Duration::from_micros(300), "{time:?}");
    assert!(text.contains("bytes were missing 1 times"), "{text}");
}

const OF_THE_NODE: &str = r#"{
  "queues":[{"name":"work","vhost":"/","durable":true,"auto_delete":false,"exclusive":false,"arguments":{}}],
  "connections":[{"peer":"127.0.0.1:40000","vhost":"/","product":"Celery","tls":""}],
  "consumers":[{"vhost":"/","queue":"work","consumer_tag":"t","exclusive":false,"ack_required":true,"prefetch_count":33,
                "arguments":{"x-priority":5},"channel":1,"peer":"[::ffff:127.0.0.1]:40000"},
               {"vhost":"/","queue":"other","consumer_tag":"t","exclusive":false,"ack_required":true,"prefetch_count":1,
                "arguments":{},"channel":2,"peer":"127.0.0.1:40000"},
               {"vhost":"/","queue":"work","consumer_tag":"u","exclusive":false,"ack_required":true,"prefetch_count":0,
                "channel_prefetch_count":8,"arguments":{},"channel":1,"peer":"127.0.0.1:40000"},
               {"vhost":"/","queue":"work","consumer_tag":"v","exclusive":false,"ack_required":true,"prefetch_count":0,
                "channel_prefetch_count":0,"arguments":{},"channel":1,"peer":"127.0.0.1:40000"}]}"#;

/// Returns the scenario of a consumer that began before the capture.
fn known_to_the_node(tag: &str) -> (String, Scenario) {
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    for number in 1..=100_u64 {
        let at = number * 10 * MILLIS;
        talk.deliver(at, connection, tag, number);
        talk.client(at + 4 * MILLIS, connection, Owned::Settle(number, false, Settlement::Ack));
    }
    talk.scenario_with(Topology::from_definitions(OF_THE_NODE).unwrap())
}

#[test]
fn a_consumer_from_before_the_capture_is_known_to_the_node() {
    let (text, scenario) = known_to_the_node("t");
    let group = &scenario.consumers[0];
    assert_eq!((group.queue.as_str(), group.prefetch), ("work", Some(33)), "{text}");
    assert!(group.arguments.contains_key("x-priority") && !text.contains("Assumed"), "{text}");
    assert!(text.contains("# 1 consumer on 1 connection of Celery: "), "{text}");
}

#[test]
fn the_limit_of_a_channel_is_known_to_the_node() {
    let (text, scenario) = known_to_the_node("u");
    assert!(text.contains("channel-prefetch = 8") && !text.contains("Assumed"), "{text}");
    assert_eq!(scenario.consumers[0].queue, "work");
    let (text, scenario) = known_to_the_node("v");
    assert!(text.contains("The client has no limit"), "{text}");
    assert_eq!(scenario.consumers[0].prefetch, Some(65_535), "{text}");
}
