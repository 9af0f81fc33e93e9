//! Requests, and messages that only look like them.

use super::talk::{MILLIS, Owned, Talk};

/// Sends 100 messages a second for ten seconds, with a queue for replies.
fn requests(talk: &mut Talk) -> u64 {
    let caller = talk.connection(0, false);
    for number in 1..=1_000 {
        talk.request(number * 10 * MILLIS, caller, "tasks", "answers-of-caller");
    }
    caller
}

#[test]
fn a_message_with_a_queue_for_replies_is_no_request_if_nobody_answers() {
    let mut talk = Talk::default();
    requests(&mut talk);
    let (text, scenario) = talk.scenario();
    assert!(scenario.requests.is_empty(), "{text}");
    let [group] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!(group.queue.as_deref(), Some("tasks"), "{text}");
    assert!(text.contains("nobody answered"), "{text}");
}

#[test]
fn replies_to_a_named_queue_belong_to_requests() {
    let mut talk = Talk::default();
    let caller = requests(&mut talk);
    let worker = talk.connection(0, true);
    talk.client(0, worker, Owned::Consume("tasks".to_owned(), "t".to_owned(), true));
    for number in 1..=1_000 {
        let at = number * 10 * MILLIS;
        talk.deliver(at + MILLIS, worker, "t", number);
        talk.publish(at + 2 * MILLIS, worker, ("", "answers-of-caller"), 70);
        let (tag, exchange, key) = ("a".to_owned(), String::new(), "answers-of-caller".to_owned());
        let reply = Owned::Deliver { tag, number, exchange, key };
        talk.broker(at + 3 * MILLIS, caller, reply);
    }
    let (text, scenario) = talk.scenario();
    let [group] = &scenario.requests[..] else { panic!("{text}") };
    assert_eq!(
        (group.queue.as_str(), group.rate.map(f64::round)),
        ("tasks", Some(100.0)),
        "{text}"
    );
    let [group] = &scenario.responders[..] else { panic!("{text}") };
    assert_eq!((group.queue.as_str(), group.size_bytes), ("tasks", 70), "{text}");
    assert!(scenario.publishers.is_empty() && scenario.consumers.is_empty(), "{text}");
    assert_eq!(scenario.queues.len(), 1, "{text}");
}
