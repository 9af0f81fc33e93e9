//! The broker over AMQP as text: a line for the broker, and one for each queue.

use std::{cmp::Ordering, fmt::Write as _};

use rabbitscope_text::{counted, escapes, grouped, short_time};

use super::room::left_out;
use crate::case::{Amqp, AmqpQueue, QueueState, RoundTrips};

/// Returns the lines, each with its end, for at most `most` queues.
pub(super) fn amqp(amqp: &Amqp, most: usize) -> String {
    let named = [amqp.product.as_str(), amqp.version.as_str()].join(" ");
    let answers =
        amqp.round_trips.as_ref().map_or("no answer on an idle channel".to_owned(), answers);
    let (named, address) = (escapes::value(named.trim()), escapes::value(&amqp.address));
    let mut text = format!("amqp      {named} at {address}: {answers}\n");
    if let Some(reason) = &amqp.ended {
        let _ = writeln!(text, "          ended early: {}", escapes::value(reason));
    }
    for one in amqp.queues.iter().take(most) {
        let _ = writeln!(text, "          {}: {}", escapes::value(&one.name), queue(one));
    }
    text += &left_out(amqp.queues.len(), most, "queue");
    text
}

fn answers(times: &RoundTrips) -> String {
    let (median, p99) = (short_time(times.p50_nanos), short_time(times.p99_nanos));
    let longest = if times.count < 100 { "longest" } else { "p99" };
    let requests = counted(times.count, "request");
    format!("answers in {median} ({longest} {p99}, {requests} on an idle channel)")
}

fn queue(queue: &AmqpQueue) -> String {
    let refusal = queue.refusal.as_deref().map(|reason| escapes::value(reason).into_owned());
    match (&queue.at_start, &queue.at_end) {
        (_, None) => refusal.unwrap_or_else(|| "no answer".to_owned()),
        (None, Some(end)) => state(end),
        (Some(start), Some(end)) => format!("{}, {}", state(end), change(start.ready, end.ready)),
    }
}

fn state(state: &QueueState) -> String {
    let consumers = counted(state.consumers, "consumer");
    format!("{}, {consumers}", counted(state.ready, "ready message"))
}

fn change(start: u64, end: u64) -> String {
    let changed = grouped(end.abs_diff(start));
    match end.cmp(&start) {
        Ordering::Greater => format!("{changed} more ready than at the start"),
        Ordering::Less => format!("{changed} fewer ready than at the start"),
        Ordering::Equal => "as many as at the start".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(name: &str, start: Option<u64>, end: Option<u64>) -> AmqpQueue {
        let state = |ready: Option<u64>| ready.map(|ready| QueueState { ready, consumers: 2 });
        let refusal = (start.is_none() || end.is_none()).then(|| "NOT_FOUND".to_owned());
        AmqpQueue { name: name.to_owned(), at_start: state(start), at_end: state(end), refusal }
    }

    #[test]
    fn a_broker_and_its_queues_in_lines() {
        let times = RoundTrips { count: 148, p50_nanos: 210_000, p99_nanos: 800_000 };
        let found = Amqp {
            address: "broker:5672".to_owned(),
            product: "RabbitMQ".to_owned(),
            version: "3.10.8\u{202e}".to_owned(),
            round_trips: Some(times),
            queues: vec![
                queue("orders\n", Some(1000), Some(1200)),
                queue("less", Some(7), Some(0)),
                queue("same", Some(1), Some(1)),
                queue("new", None, Some(3)),
                queue("gone", Some(3), None),
            ],
            ..Amqp::default()
        };
        let expected = "amqp      RabbitMQ 3.10.8\\u{202e} at broker:5672: answers in 210 µs (p99 800 µs, 148 requests on \
             an idle channel)
          orders\\n: 1,200 ready messages, 2 consumers, 200 more ready than at the start
          less: 0 ready messages, 2 consumers, 7 fewer ready than at the start
          same: 1 ready message, 2 consumers, as many as at the start
          new: 3 ready messages, 2 consumers
          gone: NOT_FOUND
";
        assert_eq!(amqp(&found, 5), expected);
        assert!(amqp(&found, 2).ends_with("          3 queues more in the JSON (--json)\n"));
    }
}
