//! The recorded conversation of pika with RabbitMQ: `scripts/wire-clients.py`.

use std::{collections::BTreeMap, path::Path};

use super::heard::{Heard, Values};
use crate::tools::{missing, not_run, output};

mod broker {
    #![expect(dead_code, reason = "other tests use the other ports")]
    include!("../recorded/broker.rs");
}

const PIKA: &[u8] = include_bytes!("../recorded/pika.pcap");
const FIELDS: [&str; 16] = [
    "method.arguments.exchange",
    "method.arguments.routing_key",
    "method.arguments.queue",
    "method.arguments.consumer_tag",
    "method.arguments.delivery_tag",
    "method.arguments.multiple",
    "method.arguments.requeue",
    "method.arguments.redelivered",
    "method.arguments.mandatory",
    "method.arguments.prefetch_count",
    "method.arguments.global",
    "method.arguments.no_ack",
    "header.body-size",
    "method.properties.delivery_mode",
    "method.properties.priority",
    "method.properties.expiration",
];

/// The values that tshark lists.
fn tshark(file: &Path) -> Values {
    let fields: Vec<String> = FIELDS.map(|field| format!("-e amqp.{field}")).to_vec();
    let arguments = format!(
        "-d tcp.port=={},amqp -T fields -E occurrence=a -E aggregator=| {} -r",
        broker::AMQP,
        fields.join(" ")
    );
    let mut values = Values::new();
    for line in output("tshark", &arguments, &[file]).lines() {
        for (field, listed) in FIELDS.iter().zip(line.split('\t')) {
            let name = field.rsplit('.').next().unwrap();
            for value in listed.split('|').filter(|value| !value.is_empty()) {
                *values.entry((name, value.to_owned())).or_default() += 1;
            }
        }
    }
    values
}

#[test]
fn arguments_are_those_that_tshark_shows() {
    if let Some(reason) = missing(&["tshark"]) {
        return not_run(&reason);
    }
    let heard = Heard::in_file(PIKA, broker::AMQP);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pika.pcap");
    std::fs::write(&file, PIKA).unwrap();
    assert_eq!(heard.values, tshark(&file));
    assert_eq!(heard.missed, 0);
}

#[test]
fn headers_are_counted_without_their_values() {
    let heard = Heard::in_file(PIKA, broker::AMQP);
    // `h`, a number, and `t`, a table with a text. All copies of the messages have both.
    let [(counted, _)] = heard.headers.iter().collect::<Vec<_>>()[..] else {
        panic!("{:?}", heard.headers)
    };
    assert_eq!(*counted, (2, 22));
    let listed = |word: &[u8]| format!("{word:?}").trim_matches(['[', ']']).to_owned();
    let holds = |word: &[u8]| heard.events.contains(&listed(word));
    assert!(holds(b"wire-exchange"), "the search finds names");
    for secret in [&b"body of a message"[..], broker::PASSWORD, b"guest\0", b"text/plain"] {
        assert!(!holds(secret), "{}", String::from_utf8_lossy(secret));
    }
}

#[test]
fn refusals_are_of_each_kind() {
    let heard = Heard::in_file(PIKA, broker::AMQP);
    let count = |words: &str| heard.events.matches(words).count();
    let kinds: BTreeMap<_, _> =
        ["settlement: Ack", "Nack { requeue: true }", "Reject { requeue: true }"]
            .map(|words| (words, count(words)))
            .into();
    assert_eq!(kinds["Nack { requeue: true }"], 1);
    assert_eq!(kinds["Reject { requeue: true }"], 1);
    assert_eq!(kinds["settlement: Ack"], 31);
}
