//! Consumers that publish because of their messages, and others that only publish beside them.

use std::time::Duration;

use rabbitscope_runs::{Draws, Random, scenario::Forward};
use rabbitscope_wire::activity::Settlement;

use super::{
    exponential,
    talk::{MILLIS, Owned, SECOND, Talk},
};
use crate::{Measurements, Topology, Verdict, compare, model};

const ACK: Settlement = Settlement::Ack;
const SECONDS: u64 = 20;

/// Returns the connection of a consumer with a prefetch of 10.
fn consumer(talk: &mut Talk) -> u64 {
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Qos(10, false));
    talk.client(2, connection, Owned::Consume("q".to_owned(), "t".to_owned(), false));
    connection
}

/// A consumer that needs this time for each message. `followed` says whether it publishes one before it settles it, and
/// how long it then waits.
fn relay(
    talk: &mut Talk,
    (gap, processing): (u64, u64),
    mut followed: impl FnMut(u64) -> Option<u64>,
) {
    let connection = consumer(talk);
    let mut random = Random::new(5);
    let (mut at, mut free) = (SECOND, 0);
    for number in 1.. {
        at += exponential(&mut random, gap);
        if at > SECONDS * SECOND {
            return;
        }
        talk.deliver(at, connection, "t", number);
        free = free.max(at) + processing;
        if let Some(wait) = followed(number) {
            talk.publish(free, connection, ("", "next"), 300);
            free += wait;
        }
        talk.client(free, connection, Owned::Settle(number, false, ACK));
    }
}

/// Returns the text of the scenario, and what its only consumers publish.
fn forward(talk: &Talk) -> (String, Option<Forward>) {
    let (text, scenario) = talk.scenario();
    let forward = scenario.consumers[0].forward.clone();
    assert_eq!(scenario.publishers.len(), usize::from(forward.is_none()), "{text}");
    (text, forward)
}

#[test]
fn a_relay_publishes_before_it_settles() {
    for processing in [0, 200_000, 8 * MILLIS] {
        let mut talk = Talk::default();
        relay(&mut talk, (10 * MILLIS, processing), |_| Some(20_000));
        let (text, forward) = forward(&talk);
        let forward = forward.unwrap_or_else(|| panic!("{processing}\n{text}"));
        assert_eq!(forward.queue.as_deref(), Some("next"), "{text}");
        assert_eq!((forward.size, forward.share), (Some(300), None), "{text}");
        assert!(!text.contains("connections have several groups"), "{text}");
    }
    // A flood, in which many messages have the same time.
    let mut talk = Talk::default();
    let connection = consumer(&mut talk);
    for number in 1..=1_000_u64 {
        let at = SECOND + number / 10 * MILLIS;
        talk.deliver(at, connection, "t", number);
        talk.publish(at, connection, ("orders", "paid"), 300);
        talk.client(at, connection, Owned::Settle(number, false, ACK));
    }
    let (text, forward) = forward(&talk);
    let forward = forward.unwrap_or_else(|| panic!("{text}"));
    let target = (forward.exchange.as_deref(), forward.routing_key.as_deref());
    assert_eq!(target, (Some("orders"), Some("paid")));
}

#[test]
fn a_relay_may_publish_for_a_part_of_its_messages() {
    let mut talk = Talk::default();
    let draws = Draws::new(Random::new(9), &[0.3, 0.7]);
    let is_followed = |number| (draws.choice(number) == 0).then_some(0);
    relay(&mut talk, (10 * MILLIS, 3 * MILLIS), is_followed);
    let (text, forward) = forward(&talk);
    let share = forward.and_then(|forward| forward.share).unwrap_or_else(|| panic!("{text}"));
    assert!((share - 0.3).abs() < 0.05, "{share}");
    let processing = talk.scenario().1.consumers[0].processing_time.unwrap();
    assert!(processing.abs_diff(Duration::from_millis(3)) < Duration::from_millis(1), "{text}");
}

#[test]
fn whoever_publishes_for_another_reason_is_no_relay() {
    let settle = |number| Owned::Settle(number, false, ACK);
    // Independent messages of any rate on the channel of a busy consumer.
    for gap in [200 * MILLIS, 10 * MILLIS, 4 * MILLIS] {
        let mut talk = Talk::default();
        relay(&mut talk, (10 * MILLIS, 2 * MILLIS), |_| None);
        let mut random = Random::new(gap);
        let mut at = SECOND;
        while at < SECONDS * SECOND {
            at += exponential(&mut random, gap);
            talk.publish(at, 0, ("", "next"), 300);
        }
        assert_eq!(forward(&talk).1, None, "a message in {gap} ns");
    }
    // A client that reads what it has published itself, at once.
    let mut talk = Talk::default();
    let connection = consumer(&mut talk);
    for number in 1..=1_000_u64 {
        let at = SECOND + number * 10 * MILLIS;
        talk.publish(at, connection, ("", "q"), 300);
        talk.deliver(at + MILLIS, connection, "t", number);
        talk.client(at + 2 * MILLIS, connection, settle(number));
    }
    assert_eq!(forward(&talk).1, None);
    // One that puts its messages back at the end of their queue, and one that refuses them.
    for (target, how) in [("q", ACK), ("next", Settlement::Nack { requeue: false })] {
        let mut talk = Talk::default();
        let connection = consumer(&mut talk);
        for number in 1..=1_000_u64 {
            let at = SECOND + number * 10 * MILLIS;
            talk.deliver(at, connection, "t", number);
            talk.publish(at + MILLIS, connection, ("", target), 300);
            talk.client(at + MILLIS, connection, Owned::Settle(number, false, how));
        }
        assert_eq!(forward(&talk).1, None, "{target}");
    }
    // Few messages.
    let mut talk = Talk::default();
    relay(&mut talk, (1_500 * MILLIS, MILLIS), |_| Some(0));
    assert_eq!(forward(&talk).1, None);
}

#[test]
fn the_share_of_followed_messages_is_compared() {
    let measured = |seed, share: f64, gap| {
        let mut talk = Talk::default();
        let draws = Draws::new(Random::new(seed), &[share, 1.0 - share]);
        relay(&mut talk, (gap, 3 * MILLIS), |number| (draws.choice(number) == 0).then_some(0));
        let mut flows = talk.observed().finish();
        let model = model(&mut flows, Topology::default());
        Measurements::from_model(&model, &flows)
    };
    let verdict = |seed, share, gap| {
        let likeness = compare(&measured(1, 0.4, gap), &measured(seed, share, gap));
        let verdicts = [Verdict::Alike, Verdict::NotJudged, Verdict::Differs];
        let is =
            |verdict: &Verdict| likeness.figures(*verdict).contains(&("consumers-1", "forwarded"));
        verdicts.into_iter().find(is)
    };
    for seed in 2..8 {
        assert_eq!(verdict(seed, 0.4, 10 * MILLIS), Some(Verdict::Alike), "{seed}");
        assert_eq!(verdict(seed, 0.5, 10 * MILLIS), Some(Verdict::Differs), "{seed}");
        // Some 200 messages.
        assert_eq!(verdict(seed, 0.4, 100 * MILLIS), Some(Verdict::NotJudged), "{seed}");
    }
}
