//! Messages that wait: for clients that ask for one at a time, and without an explanation.

use super::cases::{check, found, healthy};
use crate::{
    case::{Case, PolledQueue, QueueCase, Turns},
    limit::{Certainty, LimitKind},
};

/// A queue with this growth of its 8,000 ready messages.
fn queue(consumers: u64, ready_growth: f64) -> QueueCase {
    let (vhost, name) = ("/".to_owned(), "orders".to_owned());
    QueueCase { vhost, name, ready: 8_000, ready_growth, consumers, ..QueueCase::default() }
}

/// A node with this queue, which a client asks 1,000 times.
fn polled(queue: QueueCase, empty: u64) -> Case {
    let mut case = healthy();
    let (vhost, client) = (None, "127.0.0.1:40000".to_owned());
    let one = PolledQueue { vhost, queue: queue.name.clone(), client, gets: 1_000, empty };
    case.queues.as_mut().unwrap().rows = vec![queue];
    Case { turns: Some(Turns { polled: vec![one], ..Turns::default() }), ..case }
}

#[test]
fn clients_that_ask_for_one_message_at_a_time_are_the_limit() {
    for growth in [0.0, 300.0, -20.0] {
        let case = polled(queue(0, growth), 10);
        check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
        assert!(found(&case).evidence[0].figure.contains("1,000 gets, 10 of them in vain"));
    }
}

#[test]
fn polling_that_keeps_up_or_finds_nothing_is_no_limit() {
    // The backlog is gone in four seconds.
    check(&polled(queue(0, -2_000.0), 10), LimitKind::Nothing, "", Certainty::Certain);
    let mut of_another = polled(queue(0, 0.0), 10);
    of_another.turns.as_mut().unwrap().polled[0].queue = "invoices".to_owned();
    check(&of_another, LimitKind::Nothing, "", Certainty::Certain);
    let mut few = polled(queue(0, 0.0), 1);
    few.turns.as_mut().unwrap().polled[0].gets = 10;
    check(&few, LimitKind::Nothing, "", Certainty::Certain);
    check(&polled(queue(0, 0.0), 900), LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_backlog_without_an_explanation_is_not_nothing() {
    let mut case = healthy();
    for growth in [0.0, 50.0, -100.0] {
        case.queues.as_mut().unwrap().rows = vec![queue(2, growth)];
        check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
        assert!(found(&case).sentence.contains("8000 messages of orders wait for its consumers"));
    }
    // That of a burst, among many more messages.
    case.queues.as_mut().unwrap().rows = vec![queue(2, -4_000.0)];
    case.broker.as_mut().unwrap().rates.delivered = Some(20_000.0);
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_backlog_that_most_deliveries_came_from_is_not_nothing() {
    let mut case = healthy();
    let drained = QueueCase { ready: 0, ..queue(2, -20_000.0) };
    case.queues.as_mut().unwrap().rows = vec![drained];
    case.broker.as_mut().unwrap().rates.delivered = Some(21_000.0);
    check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
    assert!(found(&case).sentence.contains("300000 messages of orders waited at first"));
    // Few messages, as those of a look between two writes.
    case.queues.as_mut().unwrap().rows[0].ready_growth = -50.0;
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_queue_that_does_not_answer_is_not_empty() {
    let mut case = healthy();
    case.queues.as_mut().unwrap().silent = vec!["orders".to_owned()];
    check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
    assert!(found(&case).sentence.contains("the queue orders did not answer in time"));
}
