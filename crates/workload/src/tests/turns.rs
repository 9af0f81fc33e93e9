//! Clients that do one thing after the other, and those that only look like it.

use rabbitscope_runs::Random;
use rabbitscope_wire::{
    activity::Settlement,
    turns::{Answer, Turns},
};

use super::talk::{MILLIS, Owned, Talk};

fn turns(talk: &Talk) -> Turns {
    talk.observed().finish().turns(&|_| None)
}

/// Publishes with a window, of a client that began before the capture. Confirms take 1 to 2 ms, and `own` nanoseconds
/// lie between a confirm and the next message.
fn window(talk: &mut Talk, window: u64, own: u64) -> u64 {
    let connection = talk.connection(0, false);
    let mut random = Random::new(1);
    let mut at = MILLIS;
    for number in 1..=2_000_u64 {
        talk.publish(at, connection, ("", "q"), 100);
        if number >= window {
            at += MILLIS + random.below(MILLIS);
            talk.confirm(at, connection, 7_000 + number + 1 - window, false);
            at += own;
        } else {
            at += 1_000;
        }
    }
    connection
}

#[test]
fn windows_of_any_size_are_waits() {
    for size in [1, 2, 10, 200] {
        let mut talk = Talk::default();
        window(&mut talk, size, 20_000);
        let found = turns(&talk);
        let [one] = &found.publishers[..] else { panic!("window of {size}: {found:#?}") };
        assert_eq!((one.answer, one.messages, found.published), (Answer::Confirm, 2_000, 2_000));
        assert!((0.95..=1.0).contains(&one.waiting), "window of {size}: {one:?}");
    }
}

#[test]
fn transactions_are_waits() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    let mut random = Random::new(2);
    let mut at = MILLIS;
    for _ in 0..500 {
        (0..3).for_each(|_| talk.publish(at, connection, ("", "q"), 100));
        talk.client(at, connection, Owned::Commit);
        at += MILLIS + random.below(MILLIS);
        talk.broker(at, connection, Owned::Committed);
        at += 100_000;
    }
    let found = turns(&talk);
    let [one] = &found.publishers[..] else { panic!("{found:#?}") };
    assert_eq!((one.answer, one.messages, one.window), (Answer::Commit, 1_500, None));
    assert!((0.85..=0.99).contains(&one.waiting), "{one:?}");
}

/// A caller whose own time varies like the answers, and that the machine stops now and then: neither its longest pauses nor
/// their spread shows that it waits, but most moments of all of them.
#[test]
fn a_caller_that_is_stopped_at_times_waits_all_the_same() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(6);
    let mut at = MILLIS;
    for number in 1..=3_000 {
        talk.publish(at, connection, ("", "q"), 100);
        at += 100_000 + random.below(40_000);
        talk.confirm(at, connection, number, false);
        at += if number % 9 == 0 { 2 * MILLIS } else { 5_000 + random.below(40_000) };
    }
    let found = turns(&talk);
    assert_eq!(found.publishers.len(), 1, "{found:#?}");
}

/// Records of TLS show when a client writes, and when the broker does. One that gets more than it sends is a consumer.
#[test]
fn records_of_tls_are_waits() {
    let of = |answer_bytes, own: u64| {
        let mut talk = Talk::default();
        let client = talk.connection(0, false);
        let mut random = Random::new(3);
        let mut at = MILLIS;
        for _ in 0..1_000 {
            talk.client(at, client, Owned::Record(90));
            let taken = 200_000 + random.below(200_000);
            talk.broker(at + taken, client, Owned::Record(answer_bytes));
            at += if own > 0 { taken + own } else { 2 * MILLIS };
        }
        talk.step(at, super::talk::Step::Ended(client));
        turns(&talk)
    };
    let found = of(40, 20_000);
    let [one] = &found.publishers[..] else { panic!("{found:#?}") };
    assert_eq!((one.answer, one.messages, found.published), (Answer::Hidden, 1_000, 1_000));
    let clock = of(40, 0);
    assert_eq!((clock.publishers.len(), clock.perhaps, clock.published), (0, 0, 1_000));
    assert_eq!(of(400, 20_000), Turns { seconds: of(400, 20_000).seconds, ..Turns::default() });
}

/// A message comes every four milliseconds, and takes some or nearly all of them. Later ones come when the last is settled.
#[test]
fn readers_work_for_a_part_of_their_time() {
    for (takes, expected) in [(2_400_000, None), (1_000_000, None), (3_900_000, Some(0.97))] {
        let mut talk = Talk::default();
        let reader = talk.connection(0, true);
        talk.client(0, reader, Owned::Consume("tasks".to_owned(), "t".to_owned(), false));
        for number in 1..=500 {
            let at = 4 * MILLIS * number;
            talk.deliver(at, reader, "t", number);
            talk.client(at + takes, reader, Owned::Settle(number, false, Settlement::Ack));
        }
        let found = turns(&talk).workers;
        assert_eq!(found.len(), usize::from(takes >= 2_000_000), "{found:#?}");
        if let Some(expected) = expected {
            assert!((found[0].working - expected).abs() < 0.02, "{found:#?}");
            assert_eq!(found[0].queue.as_deref(), Some("tasks"));
        }
    }
}

/// A clock that sends soon after the answer to its message before.
#[test]
fn a_clock_with_late_answers_waits_perhaps() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(6);
    for number in 1..=2_000 {
        let at = MILLIS * number;
        talk.publish(at, connection, ("", "q"), 100);
        talk.confirm(at + 400_000 + random.below(400_000), connection, number, false);
    }
    let found = turns(&talk);
    assert_eq!((found.publishers.len(), found.perhaps), (0, 2_000), "{found:#?}");
}

/// Its longest pauses are those in which the client itself had no CPU, long after the answer.
#[test]
fn a_client_that_is_late_at_times_waits_all_the_same() {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let mut random = Random::new(6);
    let mut at = MILLIS;
    for number in 1..=3_000 {
        talk.publish(at, connection, ("", "q"), 100);
        at += 80_000 + random.below(40_000);
        talk.confirm(at, connection, number, false);
        at += if number % 20 == 0 { 2 * MILLIS } else { 15_000 };
    }
    let found = turns(&talk);
    let [one] = &found.publishers[..] else { panic!("{found:#?}") };
    assert_eq!((one.answer, one.messages), (Answer::Confirm, 3_000));
}

/// The capture is at the node: an answer takes 10 ms to the client, and the next message 10 ms.
#[test]
fn a_far_client_waits_for_the_way_too() {
    let mut random = Random::new(8);
    let mut talk = Talk::default();
    let connection = talk.connection(0, false);
    let (mut at, mut number) = (MILLIS, 4_000);
    for _ in 0..200 {
        (0..10).for_each(|_| talk.publish(at, connection, ("", "q"), 100));
        number += 10;
        at += 300_000 + random.below(600_000);
        talk.confirm(at, connection, number, true);
        at += 20 * MILLIS + random.below(200_000);
    }
    let flows = talk.observed().finish();
    let found = flows.turns(&|_| Some(20 * MILLIS));
    let [one] = &found.publishers[..] else { panic!("{found:#?}") };
    assert!(one.answer == Answer::Confirm && one.waiting > 0.95, "{one:?}");
    // A near one would take 20 ms for itself.
    assert!(flows.turns(&|_| Some(50_000)).publishers.is_empty());
}

#[test]
fn requests_are_waits_and_their_replies_are_not() {
    let mut talk = Talk::default();
    let (caller, worker) = (talk.connection(0, true), talk.connection(0, true));
    talk.client(0, worker, Owned::Consume("tasks".to_owned(), "t".to_owned(), true));
    let mut random = Random::new(3);
    let mut at = MILLIS;
    for number in 1..=500 {
        talk.request(at, caller, "tasks", "answers");
        talk.deliver(at + 100_000, worker, "t", number);
        at += MILLIS + random.below(MILLIS);
        talk.publish(at, worker, ("", "answers"), 70);
        let (tag, exchange, key) = ("a".to_owned(), String::new(), "answers".to_owned());
        talk.broker(at + 100_000, caller, Owned::Deliver { tag, number, exchange, key });
        at += 120_000;
    }
    let found = turns(&talk);
    let [one] = &found.publishers[..] else { panic!("{found:#?}") };
    assert_eq!((one.answer, one.messages, found.published), (Answer::Reply, 500, 500));
}

#[test]
fn timers_relays_and_few_messages_are_no_waits() {
    let mut talk = Talk::default();
    let mut random = Random::new(4);
    // A timer, whose messages are confirmed long before the next ones.
    let timer = talk.connection(0, true);
    talk.client(1, timer, Owned::Select);
    for number in 1..=1_000 {
        talk.publish(number * 5 * MILLIS, timer, ("", "q"), 100);
        let answered = number * 5 * MILLIS + MILLIS / 2 + random.below(MILLIS);
        talk.confirm(answered, timer, number, false);
    }
    // A relay publishes what it gets, with confirms.
    let relay = talk.connection(0, true);
    talk.client(1, relay, Owned::Select);
    talk.client(2, relay, Owned::Consume("q".to_owned(), "t".to_owned(), true));
    for number in 1..=1_000 {
        let at = number * 4 * MILLIS + random.below(3 * MILLIS);
        talk.deliver(at, relay, "t", number);
        talk.publish(at + 50_000, relay, ("", "next"), 100);
        talk.confirm(at + MILLIS, relay, number, false);
    }
    // Two publishers of one connection, by chance: answers to one of them come soon before messages of the other.
    let shared = talk.connection(0, true);
    let (mut slow, mut quick) = (MILLIS, MILLIS);
    for _ in 0..200 {
        slow += 2 * MILLIS + random.below(8 * MILLIS);
        talk.publish(slow, shared, ("logs", "q"), 100);
    }
    for number in 1..=8_000 {
        quick += random.below(300_000);
        talk.publish(quick, shared, ("", "q"), 100);
        talk.confirm(quick + 50_000, shared, number, false);
    }
    let found = turns(&talk);
    assert!(found.publishers.is_empty() && found.published == 10_200, "{found:#?}");
    assert!(found.polled.is_empty());
    let mut few = Talk::default();
    let connection = few.connection(0, true);
    few.client(1, connection, Owned::Select);
    for number in 1..=40 {
        few.publish(number * MILLIS, connection, ("", "q"), 100);
        few.confirm(number * MILLIS + 900_000, connection, number, false);
    }
    assert!(turns(&few).publishers.is_empty());
}

#[test]
fn polled_queues_have_the_questions_of_all_clients() {
    let mut talk = Talk::default();
    let (often, seldom) = (talk.connection(0, false), talk.connection(0, false));
    for number in 0..100 {
        let at = number * MILLIS;
        talk.client(at, often, Owned::Get("jobs".to_owned()));
        let (tag, exchange, key) = (String::new(), String::new(), "jobs".to_owned());
        talk.broker(at + 500, often, Owned::Deliver { tag, number, exchange, key });
        if number % 10 == 0 {
            talk.client(at, seldom, Owned::Get("jobs".to_owned()));
            talk.broker(at + 600, seldom, Owned::GetEmpty);
        }
    }
    let found = turns(&talk);
    let [one] = &found.polled[..] else { panic!("{found:#?}") };
    assert_eq!((one.queue.as_str(), one.gets, one.empty), ("jobs", 110, 10));
}
