//! Names that applications chose are in no anonymous file.

use rabbitscope_runs::scenario;

use super::talk::{MILLIS, Owned, Talk};
use crate::{Origin, Topology, anonymous, model};

const DEFINITIONS: &str = r#"{
  "queues": [
    {"name":"secret-orders.41","vhost":"/","durable":true,"auto_delete":false,
     "arguments":{"x-dead-letter-exchange":"secret-dead","x-queue-type":"quorum"}},
    {"name":"secret-orders.42","vhost":"/","durable":true,"auto_delete":false,
     "arguments":{"x-dead-letter-exchange":"secret-dead","x-queue-type":"quorum"}},
    {"name":"secret-late","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
  "exchanges": [
    {"name":"secret-dead","vhost":"/","type":"headers","durable":true,"auto_delete":false,"arguments":{}},
    {"name":"secret-events","vhost":"/","type":"topic","durable":true,"auto_delete":false,
     "arguments":{"alternate-exchange":"secret-dead"}}],
  "bindings": [
    {"source":"secret-events","vhost":"/","destination":"secret-orders.41","destination_type":"queue",
     "routing_key":"secret-eu.*.41"},
    {"source":"secret-events","vhost":"/","destination":"secret-orders.42","destination_type":"queue",
     "routing_key":"secret-eu.*.42"},
    {"source":"secret-dead","vhost":"/","destination":"secret-late","destination_type":"queue",
     "routing_key":"","arguments":{"x-match":"all","secret-header":"secret-value","secret-number":4711}}],
  "policies": [
    {"vhost":"/","name":"secret-policy","pattern":"^secret-orders","apply-to":"queues","priority":1,
     "definition":{"dead-letter-exchange":"secret-dead","overflow":"reject-publish"}}]}"#;

#[test]
fn structure_stays_and_names_go() {
    let mut topology = Topology::from_definitions(DEFINITIONS).unwrap();
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    for number in 1..200_u64 {
        let key = format!("secret-eu.secret{}.{}", number % 3, 41 + number % 2);
        talk.publish(number * 10 * MILLIS, connection, ("secret-events", &key), 100);
    }
    let queue = "secret-orders.41".to_owned();
    talk.client(3, connection, Owned::Consume(queue, "secret-tag".to_owned(), true));
    talk.deliver(5 * MILLIS, connection, "secret-tag", 1);
    let mut flows = talk.observed().finish();
    assert_eq!(anonymous(&mut flows, &mut topology), 0);
    let origin = Origin { name: "test".to_owned(), ..Origin::default() };
    let text =
        crate::scenario(&model(&mut flows, topology), &origin, crate::RunLength::from_seconds(10));
    let read = scenario::parse(&text, "test", &[]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    for name in ["secret", "orders", "4711", "41", "pika"] {
        assert!(!text.contains(name), "{name}\n{text}");
    }
    assert!(text.contains("of program 1"), "{text}");
    assert_eq!((read.queues.len(), read.exchanges.len()), (3, 2), "{text}");
    let events = read.exchanges.iter().find(|exchange| exchange.kind == "topic").unwrap();
    let bound: Vec<_> = read.queues.iter().flat_map(|queue| &queue.bindings).collect();
    let keys = bound.iter().filter(|binding| binding.exchange == events.name);
    let mut keys: Vec<&str> = keys.map(|binding| binding.routing_key.as_str()).collect();
    keys.sort_unstable();
    // The numbers of keys are those of their queues.
    assert!(keys[0].ends_with(".*.3") && keys[1].ends_with(".*.4"), "{keys:?}\n{text}");
    let published = read.publishers[0].routing_keys.as_deref().unwrap();
    assert_eq!(published.len(), 6, "{text}");
    let beginning = keys[0].split('*').next().unwrap();
    assert!(published.iter().all(|key| key.starts_with(beginning)), "{text}");
    assert!(text.contains("reject-publish") && text.contains("x-match = \"all\""), "{text}");
}
