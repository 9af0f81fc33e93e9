//! Rules about clients.

use super::{
    cases::change,
    checks::{check, check_healthy, check_unjudged},
    rows::process,
};
use crate::{
    case::{Answer, Case, ChannelCase, Turns, WaitingPublisher},
    finding::Severity,
};

/// Changes the consumer, whose client is `billing`.
fn consumer(with: impl Fn(&mut ChannelCase)) -> impl Fn(&mut Case) {
    move |case| change(&mut case.clients, |clients| with(&mut clients.channels[0]))
}

/// Changes the publisher, whose client is `shop`.
fn publisher(with: impl Fn(&mut ChannelCase)) -> impl Fn(&mut Case) {
    move |case| change(&mut case.clients, |clients| with(&mut clients.channels[1]))
}

#[test]
fn unacknowledged() {
    let held = |held: u64, prefetch: Option<u64>| {
        consumer(move |channel| {
            channel.unacknowledged = held;
            channel.prefetch = prefetch;
        })
    };
    check("unacknowledged", Severity::Warning, "billing (10.0.0.5", held(60_000, Some(0)));
    check("unacknowledged", Severity::Note, "user app", held(9_543, Some(60_000)));
    check_healthy("unacknowledged", held(1_900, Some(0)));
    check_healthy("unacknowledged", held(3_000, Some(300)));
    check_healthy(
        "unacknowledged",
        consumer(|channel| {
            channel.unacknowledged = 3_000;
            channel.prefetch = Some(0);
            channel.global_prefetch = 500;
        }),
    );
}

/// Plants a consumer with a prefetch and a rate, and a queue that has messages.
fn slow(prefetch: u64, rate: f64, capacity: f64) -> impl Fn(&mut Case) {
    move |case| {
        consumer(|channel| {
            channel.prefetch = Some(prefetch);
            channel.unacknowledged = prefetch;
            channel.delivered_per_second = Some(rate);
        })(case);
        change(&mut case.queues, |queues| {
            queues.rows[0].ready = 10_000;
            queues.rows[0].consumer_capacity = Some(capacity);
        });
    }
}

#[test]
fn low_prefetch() {
    check("low-prefetch", Severity::Warning, "billing", slow(1, 800.0, 0.3));
    check_healthy("low-prefetch", slow(100, 20_000.0, 0.3));
    check_healthy("low-prefetch", slow(1, 800.0, 0.9));
    // Its work on a message takes 20 ms: a larger prefetch does not help.
    check_healthy("low-prefetch", slow(1, 50.0, 0.3));
    // It returns its messages to the queue.
    check_healthy("low-prefetch", |case| {
        slow(1, 800.0, 0.3)(case);
        consumer(|channel| channel.acknowledged_per_second = Some(0.0))(case);
    });
    check_unjudged("low-prefetch", "deliveries", slow(1, 1.0, 0.3));
    check_unjudged(
        "low-prefetch",
        "deliveries",
        consumer(|channel| channel.delivered_per_second = None),
    );
}

#[test]
fn silent_consumer() {
    let silent = |rate: f64, ready: u64| {
        move |case: &mut Case| {
            consumer(|channel| {
                channel.prefetch = Some(10);
                channel.unacknowledged = 10;
                channel.acknowledged_per_second = Some(rate);
            })(case);
            change(&mut case.queues, |queues| queues.rows[0].ready = ready);
        }
    };
    check("silent-consumer", Severity::Note, "billing", silent(0.0, 5));
    check_healthy("silent-consumer", silent(0.2, 5));
    check_healthy("silent-consumer", silent(0.0, 0));
    check_unjudged(
        "silent-consumer",
        "counts",
        consumer(|channel| channel.acknowledged_per_second = None),
    );
}

#[test]
fn polling() {
    let poll = |got: f64, empty: f64, cores: f64| {
        move |case: &mut Case| {
            change(&mut case.broker, |broker| {
                broker.rates.got = Some(got);
                broker.rates.get_empty = Some(empty);
            });
            consumer(|channel| channel.get_empty_per_second = Some(empty))(case);
            change(&mut case.cpu, |cpu| cpu.processes.push(process("channel", "billing", cores)));
        }
    };
    check("polling", Severity::Note, "billing", poll(0.1, 20.0, 0.01));
    check("polling", Severity::Warning, "billing", poll(1.0, 900.0, 0.01));
    let found = check("polling", Severity::Warning, "billing", poll(1.0, 100.0, 0.3));
    // The publisher's channel stays; of the queue's time a part is that of polls.
    assert!((found.bound.unwrap().throughput - (1.9 / 0.4 - 1.0)).abs() < 1e-9);
    // A thirtieth of the deliveries, and most find a message.
    check_healthy("polling", poll(100.0, 10.0, 0.3));
    check_healthy("polling", poll(0.0, 1.0, 0.0));
    check_unjudged("polling", "count", |case| {
        change(&mut case.broker, |broker| {
            broker.rates.got = None;
            broker.rates.get_empty = None;
        });
    });
}

#[test]
fn transactions() {
    check(
        "transactions",
        Severity::Warning,
        "shop",
        publisher(|channel| channel.is_transactional = true),
    );
    check(
        "transactions",
        Severity::Note,
        "shop",
        publisher(|channel| {
            channel.is_transactional = true;
            channel.published_per_second = None;
        }),
    );
}

/// Plants a publisher that waits for answers, for this share of its time.
fn waiting(answer: Answer, window: Option<u32>, messages: u64, share: f64) -> impl Fn(&mut Case) {
    move |case| {
        publisher(|channel| channel.name = "10.0.0.6:4711 -> 10.0.0.1:5672 (1)".to_owned())(case);
        let client = "10.0.0.6:4711".to_owned();
        let one = WaitingPublisher { client, messages, answer, window, waiting: share };
        let seconds = 15.0;
        let turns = Turns { seconds, published: 15_000, publishers: vec![one], ..Turns::default() };
        case.turns = Some(turns);
    }
}

#[test]
fn confirm_window() {
    let one = waiting(Answer::Confirm, Some(1), 12_000, 0.8);
    let found = check("confirm-window", Severity::Warning, "shop", one);
    assert!(found.sentence.ends_with("waits for the confirm of each message before the next one"));
    assert_eq!(found.bound.map(|bound| bound.throughput), Some(99.0));
    let ten = waiting(Answer::Confirm, Some(10), 900, 0.8);
    let found = check("confirm-window", Severity::Note, "10.0.0.6:4711", ten);
    assert!(found.sentence.contains("one of 10 messages"), "{}", found.sentence);
    for healthy in [
        waiting(Answer::Confirm, Some(50), 12_000, 0.8),
        waiting(Answer::Confirm, Some(1), 12_000, 0.3),
        waiting(Answer::Confirm, Some(1), 90, 0.8),
        waiting(Answer::Confirm, None, 12_000, 0.8),
        waiting(Answer::Reply, None, 12_000, 0.8),
    ] {
        check_healthy("confirm-window", healthy);
    }
    check_unjudged("confirm-window", "packets show no messages", |case| case.turns = None);
    let hidden = waiting(Answer::Hidden, None, 12_000, 0.8);
    check_unjudged("confirm-window", "TLS hides how many messages are unconfirmed", hidden);
    check_unjudged("confirm-window", "it takes 100 published messages", |case| {
        case.turns = Some(Turns { published: 99, ..Turns::default() });
    });
}

#[test]
fn many_channels() {
    let open = |channels: u64| {
        move |case: &mut Case| {
            change(&mut case.clients, |clients| clients.connections[1].channels = channels);
        }
    };
    check("many-channels", Severity::Note, "shop", open(2_000));
    check_healthy("many-channels", open(500));
}
