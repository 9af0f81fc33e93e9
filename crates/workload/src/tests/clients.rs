//! Publishers of known kinds.

use rabbitscope_runs::{
    Draws, Random,
    scenario::{Arrival, Scenario},
};

use super::{
    exponential,
    talk::{MILLIS, Owned, SECOND, Talk, properties},
};

/// Publishes every `gap` nanoseconds for ten seconds.
fn timer(talk: &mut Talk, queue: &str, gap: u64, bytes: u64) {
    let connection = talk.connection(0, true);
    for number in 1..=10 * SECOND / gap {
        talk.publish(number * gap, connection, ("", queue), bytes);
    }
}

#[test]
fn timers_keep_rate_and_size() {
    let mut talk = Talk::default();
    for _ in 0..3 {
        timer(&mut talk, "q", 20 * MILLIS, 512);
    }
    timer(&mut talk, "q", 20 * MILLIS, 4_096);
    let (text, scenario) = talk.scenario();
    let [small, large] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((small.count, small.connections, small.size), (3, 3, Some(512)));
    assert_eq!((large.count, large.size), (1, Some(4_096)));
    for group in [small, large] {
        assert!((group.rate.unwrap() - 50.0).abs() < 0.1, "{text}");
        assert_eq!(group.arrival, Some(Arrival::Constant));
        assert_eq!(group.confirm_window, None);
    }
    assert!(text.contains("# 3 publishers on 3 connections of pika: 1,500 messages"), "{text}");
}

#[test]
fn the_rate_of_a_slow_timer_is_that_of_its_gaps() {
    let mut talk = Talk::default();
    let (busy, slow) = (talk.connection(0, true), talk.connection(0, true));
    for number in 0..=3_000 {
        talk.publish(number * 10 * MILLIS, busy, ("", "q"), 100);
    }
    // The first of 14 heartbeats comes a second after the begin, the last three seconds before the end.
    for number in 0..14 {
        talk.publish((1 + 2 * number) * SECOND, slow, ("amq.topic", "beat"), 100);
    }
    let (text, scenario) = talk.scenario();
    let rates: Vec<f64> = scenario.publishers.iter().filter_map(|group| group.rate).collect();
    assert!(rates.contains(&0.5), "{text}");
}

#[test]
fn a_publisher_that_waits_for_confirms_has_a_window_and_no_rate() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(1);
    let mut at = MILLIS;
    for number in 1..=4_000_u64 {
        talk.publish(at, connection, ("", "q"), 100);
        // The window has room again with the confirm of the message ten before.
        if number >= 10 {
            at += MILLIS + random.below(MILLIS);
            talk.confirm(at, connection, number - 9, false);
            at += 20_000;
        } else {
            at += 1_000;
        }
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((group.confirm_window, group.rate), (Some(10), None), "{text}");
    assert!(text.contains("Closed loop"), "{text}");
}

/// Most messages have no pause before them: they share a segment with others.
#[test]
fn a_publisher_that_fills_its_window_in_few_segments_has_no_rate() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let (mut at, mut sent) = (10, 0);
    for round in 0..60_u64 {
        for _ in 0..200 {
            talk.publish(at, connection, ("", "a"), 100);
            sent += 1;
        }
        at += MILLIS + 50_000 * (round * 7 % 13);
        talk.confirm(at, connection, sent, true);
        at += 20_000;
    }
    let (text, scenario) = talk.scenario();
    let group = &scenario.publishers[0];
    assert_eq!((group.confirm_window, group.rate), (Some(200), None), "{text}");
    assert!(text.contains("Closed loop"), "{text}");
}

/// The broker confirms each write before the next one, so that all pauses begin with the messages of one write.
#[test]
fn a_timer_that_writes_several_messages_has_no_window() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(5);
    for tick in 1..=1_000 {
        let at = tick * 20 * MILLIS + random.below(50_000);
        (0..5).for_each(|_| talk.publish(at, connection, ("", "a"), 100));
        talk.confirm(at + MILLIS + random.below(10 * MILLIS), connection, tick * 5, true);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert!((group.rate.unwrap_or_default() - 250.0).abs() < 1.0, "{text}");
    assert!(!text.contains("confirm-window") && group.has_confirms(), "{text}");
}

#[test]
fn a_timer_with_a_wide_window_is_open() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(3);
    for number in 1..=2_000 {
        let at = number * 5 * MILLIS;
        talk.publish(at, connection, ("", "q"), 100);
        talk.confirm(at + MILLIS + random.below(14 * MILLIS), connection, number, false);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert!((group.rate.unwrap() - 200.0).abs() < 0.5, "{text}");
    assert!(group.has_confirms(), "{text}");
}

/// Publishes with a window of 1. `think` is the time from a confirm to the next message.
fn thinking(think: impl Fn(&mut Random) -> u64) -> (String, Option<Arrival>) {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(5);
    let mut at = MILLIS;
    for number in 1..=3_000 {
        talk.publish(at, connection, ("", "q"), 100);
        at += MILLIS + random.below(4 * MILLIS);
        talk.confirm(at, connection, number, false);
        at += think(&mut random);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!(group.confirm_window, Some(1), "{text}");
    (text.clone(), group.arrival)
}

#[test]
fn a_client_that_thinks_after_each_confirm_is_no_random_source() {
    let (text, arrival) = thinking(|random| 6 * MILLIS + random.below(MILLIS / 2));
    assert_eq!(arrival, Some(Arrival::Constant), "{text}");
    assert!(text.contains("follows the confirm"), "{text}");
    let (text, arrival) = thinking(|random| exponential(random, 20 * MILLIS));
    assert_eq!(arrival, Some(Arrival::Poisson), "{text}");
}

#[test]
fn independent_messages_and_bursts_are_told_apart() {
    let mut talk = Talk::default();
    let poisson = talk.connection(0, true);
    let mut random = Random::new(9);
    let mut at = 1;
    while at < 30 * SECOND {
        talk.publish(at, poisson, ("", "q"), 100);
        at += exponential(&mut random, 20 * MILLIS);
    }
    let bursts = talk.connection(0, true);
    for number in 0..60 * 25 {
        let at = number / 25 * 500 * MILLIS + number % 25 * 100_000;
        talk.publish(at + MILLIS, bursts, ("", "other"), 100);
    }
    let (text, scenario) = talk.scenario();
    let of = |queue: &str| scenario.publishers.iter().find(|group| group.routing_key() == queue);
    let poisson = of("q").unwrap();
    assert_eq!(poisson.arrival, Some(Arrival::Poisson), "{text}");
    assert!((poisson.rate.unwrap() / 50.0 - 1.0).abs() < 0.06, "{text}");
    assert!(text.contains("The rate is rough"), "{text}");
    let [phase] = of("other").unwrap().phases[..] else { panic!("{text}") };
    assert_eq!(phase.burst, Some(25), "{text}");
    let every = phase.every.unwrap().as_secs_f64();
    assert!((every - 0.5).abs() < 0.015, "{every}");
}

#[test]
fn sizes_of_one_publisher_have_their_shares() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 0..3_000_u64 {
        let bytes = if number % 10 < 7 { 512 } else { 8_192 };
        talk.publish(number * 10 * MILLIS, connection, ("", "q"), bytes);
    }
    let (text, scenario) = talk.scenario();
    let shares = scenario.publishers[0].size_shares.as_deref().unwrap();
    let share = |bytes| shares.iter().find(|one| one.size_bytes == bytes).unwrap().share;
    assert!((share(512) - 0.7).abs() < 0.01 && (share(8_192) - 0.3).abs() < 0.01, "{text}");
}

/// Publishes to keys by Zipf's law. Returns the model.
fn skewed(keys: u64, exchange: &str, exponent: f64) -> (String, Scenario) {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    let weights: Vec<f64> = (1..=keys).map(|key| (key as f64).powf(-exponent)).collect();
    let draws = Draws::new(Random::new(8), &weights);
    for number in 0..4_000_u64 {
        let key = format!("k.{}", draws.choice(number) + 1);
        talk.publish(number * 10 * MILLIS, connection, (exchange, &key), 100);
    }
    talk.scenario()
}

#[test]
fn keys_have_their_shares() {
    let (text, scenario) = skewed(10, "amq.topic", 1.0);
    let shares = scenario.publishers[0].shares_of_keys(10).unwrap();
    let sum: f64 = (1..=10).map(|key| f64::from(key).recip()).sum();
    for (key, share) in (1..).zip(&shares) {
        let expected = f64::from(key).recip() / sum;
        assert!((share - expected).abs() < 0.03, "{key}: {share}\n{text}");
    }
    let (text, scenario) = skewed(10, "amq.topic", 0.0);
    assert_eq!(scenario.publishers[0].shares_of_keys(10), None, "{text}");
}

#[test]
fn many_keys_fall_by_an_exponent() {
    let (text, scenario) = skewed(50, "", 1.2);
    let exponent = scenario.publishers[0].key_exponent;
    assert!(exponent.is_none() && scenario.publishers[0].key_shares.is_some(), "{text}");
    let (text, scenario) = skewed(60, "", 1.2);
    let exponent = scenario.publishers[0].key_exponent.unwrap();
    assert!((exponent - 1.2).abs() < 0.15, "{exponent}\n{text}");
}

#[test]
fn properties_keep_number_and_size_of_headers() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 0..100 {
        let properties = properties(7, 3, 100);
        let (exchange, key) = (String::new(), "q".to_owned());
        let publish = Owned::Publish { exchange, key, bytes: 10, properties };
        talk.client(number * 10 * MILLIS, connection, publish);
    }
    let (text, scenario) = talk.scenario();
    let group = &scenario.publishers[0];
    assert_eq!((group.properties.priority, group.is_persistent()), (Some(7), true), "{text}");
    let headers = &group.properties.headers;
    let bytes: usize = headers
        .iter()
        .map(|(key, value)| {
            let rabbitscope_runs::scenario::FieldValue::Text(text) = value else {
                panic!("{text}")
            };
            1 + key.len() + 1 + 4 + text.len()
        })
        .sum();
    assert_eq!((headers.len(), bytes), (3, 100));
}

#[test]
fn properties_that_differ_have_their_shares() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 0..1_000_u64 {
        let mut properties = properties(if number % 5 == 0 { 9 } else { 1 }, 2, 60);
        if number % 10 == 0 {
            properties.expiration = Some(30_000);
            properties.delivery_mode = Some(1);
        }
        let (exchange, key) = (String::new(), "q".to_owned());
        let publish = Owned::Publish { exchange, key, bytes: 10, properties };
        talk.client(number * 10 * MILLIS, connection, publish);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    let drawn: Vec<_> = group
        .all_properties()
        .into_iter()
        .map(|(share, one)| (share, one.priority, one.expiration, one.delivery_mode))
        .collect();
    let seconds = |seconds| Some(std::time::Duration::from_secs(seconds));
    let expected = [
        (0.8, Some(1), None, Some(2)),
        (0.1, Some(9), None, Some(2)),
        (0.1, Some(9), seconds(30), None),
    ];
    assert_eq!(drawn, expected, "{text}");
    assert_eq!(group.properties.headers.len(), 2, "all have them\n{text}");
    assert!(!group.is_persistent() && !text.contains("Not expressed"), "{text}");
}

#[test]
fn a_window_is_known_also_in_the_middle_of_a_connection() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    for number in 0..500_u64 {
        let at = number * 20 * MILLIS;
        talk.publish(at, connection, ("", "q"), 100);
        talk.confirm(at + 3 * MILLIS, connection, 7_000 + number, false);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!(group.confirm_window, Some(1), "{text}");
    assert!((group.rate.unwrap() - 50.0).abs() < 0.2, "{text}");
}
