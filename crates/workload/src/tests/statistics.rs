//! Clients whose packets cannot be read, by the counts of the node.

use rabbitscope_runs::scenario::{self, Arrival, Scenario};

use super::talk::{MILLIS, Owned, SECOND, Talk};
use crate::{Counted, Flows, Origin, RunLength, Topology, Traffic, model};

const OBJECTS: &str = r#"{
  "exchanges":[{"name":"events","vhost":"/","type":"topic","durable":true,"auto_delete":false,"arguments":{}}],
  "queues":[{"name":"orders","vhost":"/","durable":true,"auto_delete":false,"arguments":{}},
            {"name":"eu","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
  "bindings":[{"source":"events","vhost":"/","destination":"eu","destination_type":"queue","routing_key":"eu.*.new"}],
  "connections":[{"peer":"127.0.0.1:40000","vhost":"/","product":"shop","tls":"tlsv1.3"},
                 {"peer":"127.0.0.1:40001","vhost":"/","product":"shop","tls":"tlsv1.3"},
                 {"peer":"127.0.0.1:40002","vhost":"/","product":"shop","tls":""}],
  "consumers":[{"vhost":"/","queue":"orders","consumer_tag":"t","exclusive":false,"ack_required":true,
                "prefetch_count":7,"arguments":{},"channel":1,"peer":"127.0.0.1:40001"}]}"#;

const NOTHING: &str = "{}";

const BEFORE: &str = r#"{
  "published":[{"peer":"127.0.0.1:40000","channel":1,"vhost":"/","exchange":"","published":5000,"confirm":true,
                "transactional":false}],
  "routed":[{"peer":"127.0.0.1:40000","channel":1,"vhost":"/","exchange":"","queue":"orders","published":5000}],
  "read":[{"peer":"127.0.0.1:40001","channel":1,"vhost":"/","queue":"orders","got":0,"got_empty":0,"delivered":4990,
           "delivered_no_ack":0,"redelivered":0,"acknowledged":4985}],
  "received":[{"peer":"127.0.0.1:40000","bytes":900000},{"peer":"127.0.0.1:40001","bytes":90000}]}"#;

/// 1,000 messages later, each of 217 bytes with exchange, key and everything around; 100 more to an exchange.
const AFTER: &str = r#"{
  "published":[{"peer":"127.0.0.1:40000","channel":1,"vhost":"/","exchange":"","published":6000,"confirm":true,
                "transactional":false},
               {"peer":"127.0.0.1:40002","channel":3,"vhost":"/","exchange":"events","published":100,"confirm":false,
                "transactional":false}],
  "routed":[{"peer":"127.0.0.1:40000","channel":1,"vhost":"/","exchange":"","queue":"orders","published":6000},
            {"peer":"127.0.0.1:40002","channel":3,"vhost":"/","exchange":"events","queue":"eu","published":100}],
  "read":[{"peer":"127.0.0.1:40001","channel":1,"vhost":"/","queue":"orders","got":0,"got_empty":0,"delivered":5990,
           "delivered_no_ack":0,"redelivered":0,"acknowledged":5985}],
  "received":[{"peer":"127.0.0.1:40000","bytes":1134000},{"peer":"127.0.0.1:40001","bytes":140000},
              {"peer":"127.0.0.1:40002","bytes":15900}]}"#;

fn counted(after: &str, has_packets: bool) -> Counted {
    let before = if after == NOTHING { NOTHING } else { BEFORE };
    let [before, after] = [before, after].map(|text| Traffic::from_json(text).unwrap());
    Counted { before, after, has_packets }
}

#[track_caller]
fn written(mut flows: Flows, counted: &Counted) -> (String, Scenario) {
    let topology = Topology::from_definitions(OBJECTS).unwrap();
    flows.add_counted(counted, &topology);
    let model = model(&mut flows, topology);
    let text = crate::scenario(
        &model,
        &Origin { name: "t".to_owned(), ..Origin::default() },
        RunLength::from_seconds(10),
    );
    let read = scenario::parse(&text, "test", &[]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, read)
}

#[test]
fn without_packets_there_are_rates_and_mean_sizes() {
    let (text, scenario) = written(Flows::without_packets(10.0), &counted(AFTER, false));
    let [orders, events] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!(orders.queue.as_deref(), Some("orders"), "{text}");
    // 234 bytes a message, less 17 of TLS, 47 around it and 6 of the key.
    assert_eq!((orders.rate, orders.size, orders.confirms), (Some(100.0), Some(164), Some(true)));
    assert_eq!(orders.arrival, Some(Arrival::Poisson), "{text}");
    assert_eq!((events.exchange.as_deref(), events.rate), (Some("events"), Some(10.0)), "{text}");
    assert_eq!(events.routing_key.as_deref(), Some("eu.x.new"), "{text}");
    // 159 bytes a message, less 47 around it and 14 of exchange and key.
    assert_eq!(events.size, Some(98), "{text}");
    let [consumer] = &scenario.consumers[..] else { panic!("{text}") };
    assert_eq!((consumer.queue.as_str(), consumer.prefetch), ("orders", Some(7)), "{text}");
    assert!(
        text.contains("1,000 messages, 100 a second") || text.contains("1,000 messages in"),
        "{text}"
    );
    assert!(text.contains("# Assumed:") && text.contains("without packets"), "{text}");
}

#[test]
fn without_counts_consumers_and_idle_connections_remain() {
    let (text, scenario) = written(Flows::without_packets(10.0), &counted(NOTHING, false));
    assert_eq!((scenario.consumers.len(), scenario.consumers[0].prefetch), (1, Some(7)), "{text}");
    let [idle] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((idle.count, idle.connections, idle.rate), (2, 2, Some(0.0)), "{text}");
    assert!(text.contains("the node counts no messages"), "{text}");
}

/// Sends records of TLS 1.3 every ten milliseconds, and returns the flows.
fn records(of_message: impl Fn(u64) -> Vec<u64>) -> Flows {
    let mut talk = Talk::default();
    let publisher = talk.connection(0, false);
    for number in 0..1_000 {
        for (place, bytes) in (0..).zip(of_message(number)) {
            talk.client(number * 10 * MILLIS + place, publisher, Owned::Record(bytes));
        }
    }
    talk.step(10 * SECOND, super::talk::Step::Ended(publisher));
    talk.observed().finish()
}

#[test]
fn records_have_the_sizes_of_messages() {
    // 100 or 300 bytes: with 17 of TLS, 47 around the body and 6 of the key.
    let size = |number: u64| if number.is_multiple_of(4) { 300 } else { 100 };
    let flows = records(|number| vec![size(number) + 70]);
    let (text, scenario) = written(flows, &counted(AFTER, true));
    let [group, idle] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((idle.count, idle.rate), (1, Some(0.0)), "{text}");
    let shares = group.size_shares.iter().flatten();
    let shares: Vec<(u32, f64)> = shares.map(|share| (share.size_bytes, share.share)).collect();
    assert_eq!(shares, [(100, 0.75), (300, 0.25)], "{text}");
    assert_eq!(group.arrival, Some(Arrival::Constant), "{text}");
    assert!(text.contains("2 connections have TLS"), "{text}");
}

#[test]
fn a_client_that_writes_frame_by_frame_has_three_records_for_a_message() {
    let flows = records(|_| vec![17 + 17 + 6, 39, 17 + 8 + 1_000]);
    let (text, scenario) = written(flows, &counted(AFTER, true));
    let [group, idle] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((group.size, idle.count), (Some(1_000), 1), "{text}");
    assert!(text.contains("write = \"per-frame\""), "{text}");
}
