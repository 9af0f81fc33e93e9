//! Many clients: few groups, short files.

use rabbitscope_runs::Random;

use super::{
    exponential,
    talk::{MILLIS, Owned, SECOND, Talk},
};
use crate::Topology;

/// Rate, size and queue of a kind of clients.
const KINDS: [(f64, u64, &str); 8] = [
    (1.0, 100, "a"),
    (5.0, 100, "a"),
    (5.0, 2_000, "a"),
    (30.0, 100, "a"),
    (2.0, 500, "b"),
    (2.0, 60_000, "b"),
    (12.0, 500, "b"),
    (60.0, 12, "c"),
];

/// Returns a load of independent messages for 20 seconds, and the kind of each client.
fn load(clients: usize, seed: u64) -> Talk {
    let mut talk = Talk::default();
    let mut random = Random::new(seed);
    for client in 0..clients {
        let (rate, bytes, queue) = KINDS[client % KINDS.len()];
        let connection = talk.connection(0, true);
        talk.client(1, connection, Owned::Declare(queue.to_owned(), true));
        let gap = std::time::Duration::from_secs_f64(1.0 / rate).as_nanos();
        let gap = u64::try_from(gap).unwrap();
        let mut at = 10 + exponential(&mut random, gap);
        while at < 20 * SECOND {
            talk.publish(at, connection, ("", queue), bytes);
            at += exponential(&mut random, gap);
        }
    }
    talk
}

#[test]
fn clients_of_eight_kinds_are_eight_groups() {
    for seed in 1..=3 {
        let model = load(160, seed).model();
        let counts: Vec<usize> = model.publishers.iter().map(|group| group.count).collect();
        assert_eq!(counts, [20; 8], "seed {seed}");
        let mut found: Vec<(u64, f64)> = model
            .publishers
            .iter()
            .map(|group| (group.sizes.single().unwrap(), group.rate))
            .collect();
        let mut expected = KINDS.map(|(rate, bytes, _)| (bytes, rate)).to_vec();
        for pairs in [&mut found, &mut expected] {
            pairs.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        }
        for ((bytes, rate), (of, expected)) in found.iter().zip(&expected) {
            assert_eq!(bytes, of, "seed {seed}: {found:?}");
            assert!((rate / expected - 1.0).abs() < 0.1, "seed {seed}: {found:?}");
        }
    }
}

#[test]
fn a_thousand_queues_are_one_entry() {
    let mut talk = Talk::default();
    for number in 1..=1_000 {
        let connection = talk.connection(0, true);
        let queue = format!("task-{number:04}");
        talk.client(1, connection, Owned::Declare(queue.clone(), true));
        for message in 0..12 {
            talk.publish(SECOND * message + 5, connection, ("", &queue), 100);
        }
    }
    let (text, scenario) = talk.scenario();
    assert_eq!(scenario.queues.len(), 1, "{text}");
    assert_eq!((scenario.queues[0].from, scenario.queues[0].to), (Some(1), Some(1_000)));
    assert_eq!(scenario.queues[0].queue_names()[41], "task-0042");
    assert_eq!((scenario.publishers.len(), scenario.publishers[0].count), (1, 1_000));
    assert!(text.lines().count() < 40, "{text}");
}

#[test]
fn queues_with_one_pattern_and_two_uses_are_two_sets() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 1..=6 {
        let queue = format!("task-{number}");
        talk.client(1, connection, Owned::Declare(queue.clone(), true));
        for message in 0..12 {
            talk.publish(SECOND * message + 5, connection, ("", &queue), 100);
        }
        if number > 3 {
            talk.client(2, connection, Owned::Consume(queue.clone(), queue, true));
        }
    }
    let (text, scenario) = talk.scenario();
    assert_eq!(scenario.queues.len(), 2, "{text}");
    let all: usize = scenario.queues.iter().map(|queue| queue.queue_names().len()).sum();
    assert_eq!(all, 6, "{text}");
    assert_eq!(scenario.consumers[0].count, 3, "{text}");
}

const DEFINITIONS: &str = r##"{
  "queues":[{"name":"eu","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-queue-type":"quorum"}},
            {"name":"all","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-dead-letter-exchange":"dead"}},
            {"name":"lost","vhost":"/","durable":true,"auto_delete":false,"arguments":{}},
            {"name":"unused","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
  "exchanges":[{"name":"events","vhost":"/","type":"topic","durable":true,"auto_delete":false,"arguments":{}},
               {"name":"dead","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"arguments":{}},
               {"name":"other","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"arguments":{}}],
  "policies":[{"vhost":"/","name":"long","pattern":"^all$","apply-to":"queues","definition":{"max-length":1000},"priority":2},
              {"vhost":"/","name":"far","pattern":".*","apply-to":"all","definition":{"federation-upstream-set":"all"}}],
  "bindings":[{"source":"events","vhost":"/","destination":"eu","destination_type":"queue","routing_key":"eu.*","arguments":{}},
              {"source":"events","vhost":"/","destination":"all","destination_type":"queue","routing_key":"#","arguments":{}},
              {"source":"other","vhost":"/","destination":"unused","destination_type":"queue","routing_key":"","arguments":{}},
              {"source":"dead","vhost":"/","destination":"lost","destination_type":"queue","routing_key":"","arguments":{}}]}"##;

#[test]
fn objects_that_messages_reach_come_from_the_definitions() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    for number in 0..100 {
        let key = if number % 2 == 0 { "eu.1" } else { "us.1" };
        talk.publish(number * SECOND / 10, connection, ("events", key), 100);
    }
    let topology = Topology::from_definitions(DEFINITIONS).unwrap();
    let (text, scenario) = talk.scenario_with(topology);
    let queues: Vec<&str> = scenario.queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(queues, ["all", "eu", "lost"], "{text}");
    let exchanges: Vec<&str> =
        scenario.exchanges.iter().map(|exchange| exchange.name.as_str()).collect();
    assert_eq!(exchanges, ["dead", "events"], "{text}");
    assert_eq!(scenario.publishers[0].routing_keys.as_ref().unwrap().len(), 2, "{text}");
    assert!(!text.contains("federation") || text.contains("Not expressed"), "{text}");
    assert!(text.contains("max-length") && !text.contains("# Assumed"), "{text}");
}

/// Returns the latest start of three timers, each with its first message and its gap in microseconds.
fn latest_start(timers: [(u64, u64); 3]) -> std::time::Duration {
    let mut talk = Talk::default();
    for (first, gap) in timers {
        let connection = talk.connection(0, true);
        talk.client(1, connection, Owned::Declare("a".to_owned(), true));
        for message in 0..400 {
            talk.publish(1_000 * (first + message * gap), connection, ("", "a"), 100);
        }
    }
    let (text, scenario) = talk.scenario();
    assert_eq!((scenario.publishers.len(), scenario.publishers[0].count), (1, 3), "{text}");
    scenario.publishers[0].random_start_delay
}

#[test]
fn timers_that_take_turns_have_no_random_start() {
    let in_turn = [(10_000, 60_000), (30_100, 60_000), (49_500, 60_000)];
    assert!(latest_start(in_turn).is_zero());
    let by_whole_gaps = [(130_000, 60_000), (30_100, 60_000), (49_500, 60_000)];
    assert!(latest_start(by_whole_gaps).is_zero());
    let at_once = [(10_000, 60_000), (10_100, 60_000), (11_900, 60_000)];
    assert!(!latest_start(at_once).is_zero());
    let one_later = [(10_000, 60_000), (40_100, 60_000), (49_500, 60_000)];
    assert!(!latest_start(one_later).is_zero());
    let one_drifts = [(10_000, 60_000), (30_100, 60_000), (49_500, 60_050)];
    assert!(!latest_start(one_drifts).is_zero());
}

#[test]
fn messages_that_wait_are_there_when_the_load_starts() {
    let mut talk = Talk::default();
    for (number, queue) in ["task-1", "task-2", "empty"].into_iter().enumerate() {
        let connection = talk.connection(0, true);
        for message in 0..40 {
            talk.publish(SECOND * message + number as u64, connection, ("", queue), 300);
        }
    }
    let definitions = r#"{"exchanges":[],"bindings":[],"policies":[],"queues":[
        {"name":"task-1","durable":true,"auto_delete":false,"messages_ready":4000},
        {"name":"task-2","durable":true,"auto_delete":false,"messages_ready":6000},
        {"name":"empty","durable":true,"auto_delete":false,"messages_ready":99}]}"#;
    let (text, scenario) = talk.scenario_with(Topology::from_definitions(definitions).unwrap());
    let waiting: Vec<_> =
        scenario.queues.iter().map(|queue| (queue.prefill, queue.prefill_size)).collect();
    assert_eq!(waiting, [(0, None), (5_000, Some(300))], "{text}");
    assert!(text.contains("From 4,000 to 6,000 messages waited."), "{text}");
}

#[test]
fn a_placeholder_in_a_name_is_none() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for (place, queue) in (1..).zip(["jobs-{}", "{:03}"]) {
        talk.client(place, connection, Owned::Declare(queue.to_owned(), true));
        let consume = Owned::Consume(queue.to_owned(), queue.to_owned(), false);
        talk.client(place + 10, connection, consume);
    }
    for number in 1..200 {
        talk.publish(number * 20 * MILLIS, connection, ("", "jobs-{}"), 100);
        talk.publish(number * 20 * MILLIS + 1, connection, ("amq.topic", "a.{}"), 50);
        talk.deliver(number * 20 * MILLIS + 2, connection, "{:03}", number);
    }
    let (text, scenario) = talk.scenario();
    let names: Vec<_> = scenario.queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["(:03)", "jobs-()"], "{text}");
    assert!(text.contains("3 names have `{}`"), "{text}");
    assert_eq!(scenario.publishers.len(), 2, "{text}");
}

/// Values of headers are not read, so that bindings by them would lead nowhere.
#[test]
fn messages_that_headers_route_reach_all_queues_of_their_exchange() {
    let definitions = r#"{"policies":[],"exchanges":[
        {"name":"regions","vhost":"/","type":"headers","durable":true,"auto_delete":false,"arguments":{}}],"queues":[
        {"name":"eu","vhost":"/","durable":true,"auto_delete":false},
        {"name":"us","vhost":"/","durable":true,"auto_delete":false}],"bindings":[
        {"source":"regions","vhost":"/","destination":"eu","destination_type":"queue","routing_key":"",
         "arguments":{"x-match":"any","region":"secret-eu"}},
        {"source":"regions","vhost":"/","destination":"eu","destination_type":"queue","routing_key":"",
         "arguments":{"x-match":"all","region":"secret-uk"}},
        {"source":"regions","vhost":"/","destination":"us","destination_type":"queue","routing_key":"",
         "arguments":{"region":"secret-us"}}]}"#;
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 0..100 {
        talk.publish(number * SECOND / 10, connection, ("regions", ""), 100);
    }
    let topology = Topology::from_definitions(definitions).unwrap();
    let (text, scenario) = talk.scenario_with(topology);
    assert_eq!(
        scenario.queues.iter().map(|queue| queue.bindings.len()).sum::<usize>(),
        2,
        "{text}"
    );
    for binding in scenario.queues.iter().flat_map(|queue| &queue.bindings) {
        let keys: Vec<&str> = binding.arguments.keys().map(String::as_str).collect();
        assert_eq!((binding.exchange.as_str(), &keys[..]), ("regions", &["x-match"][..]), "{text}");
    }
    assert!(!text.contains("secret"), "{text}");
    assert!(text.contains("routing by headers"), "{text}");
}

#[test]
fn clients_with_a_key_each_keep_their_own_keys() {
    let scenario_of = |key: fn(u64) -> String| {
        let mut talk = Talk::default();
        for client in 1..=80 {
            let connection = talk.connection(0, true);
            for number in 0..40 {
                let at = number * SECOND / 4 + client;
                talk.publish(at, connection, ("amq.topic", &key(client)), 100);
            }
        }
        talk.scenario()
    };
    let (text, scenario) = scenario_of(|client| format!("sensors.{client}.state"));
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((group.routing_key(), group.count), ("sensors.{}.state", 80), "{text}");
    assert_eq!((group.from, group.to), (Some(1), Some(80)), "{text}");
    assert!(!text.contains("key-"), "{text}");
    let (text, scenario) = scenario_of(|client| format!("sensors.{}.state", client * 7));
    let listed = scenario.publishers[0].routing_keys.as_ref().map(Vec::len);
    assert_eq!(listed, Some(50), "{text}");
    assert!(text.contains("There are more keys"), "{text}");
}
