//! Clients of AMQP 1.0.

use core::time::Duration;

use rabbitscope_runs::scenario::{Protocol, PublisherGroup, Settle};
use rabbitscope_wire::{
    activity::{
        Action, Attach, Content, Delivered, Headers, Joined, OfAmqp10, Place, Properties,
        Published, Settlement,
    },
    protocols::{self, ContentHeader},
    report::Side,
};

use super::{
    super::talk::{MILLIS, SECOND},
    talk::{Links, begin, one_line, text_of, written},
};
use crate::{Counted, Flows, Measurements, Topology, Traffic, anonymous, compare, model};

const ACK: Settlement = Settlement::Ack;

fn links() -> Links {
    Links::new(protocols::Protocol::Amqp10)
}

fn content(body_bytes: u64, is_persistent: bool) -> Content {
    let header = ContentHeader { body_bytes, is_persistent, ..ContentHeader::default() };
    let amqp10 = Some(OfAmqp10 { is_settled: false, has_header: true, is_read: true });
    Content { header, properties: Some(Properties::default()), amqp10, ..Content::default() }
}

fn publish(number: Option<u64>, address: &'static [u8], content: Content) -> Action<'static> {
    let (exchange, routing_key, mandatory) = (address, &b""[..], false);
    Action::Publish(Published { exchange, routing_key, mandatory, number, content })
}

fn deliver(delivery_tag: u64, handle: &'static [u8]) -> Action<'static> {
    Action::Deliver(Delivered {
        consumer_tag: Some(handle),
        delivery_tag,
        redelivered: false,
        exchange: b"",
        routing_key: b"",
        content: content(100, true),
    })
}

fn address(address: &'static [u8], is_reader: bool) -> Attach<'static> {
    begin(Place::Address(address), is_reader)
}

impl Links {
    /// Publishes by a timer for 20 s, each message accepted after a millisecond.
    fn timer(&mut self, link: (u64, u16), gap: u64, content: Content) {
        for number in 1..20 * SECOND / gap {
            let at = number * gap + link.0 * 777_777;
            self.step(at, link, Side::Client, publish(Some(number), b"", content));
            self.settle(at + MILLIS, link, Side::Broker, (number, number), ACK);
        }
    }

    /// Delivers a message each 20 ms, and settles them in ranges after a time.
    fn reader(&mut self, link: (u64, u16), batch: u64, after: u64, settlement: Settlement) {
        for number in 1..900 {
            let at = number * 20 * MILLIS;
            self.step(at, link, Side::Broker, deliver(number, b"3"));
            if number % batch == 0 {
                let range = (number + 1 - batch, number);
                self.settle(at + after, link, Side::Client, range, settlement);
            }
        }
    }
}

#[test]
fn links_come_back_with_queue_size_rate_and_settlements() {
    let mut links = links();
    for queue in [&b"/queues/orders-1"[..], b"/queues/orders-2"] {
        let connection = links.client("java", None);
        links.attach((connection, 1), address(queue, false));
        links.timer((connection, 1), 20 * MILLIS, content(300, true));
    }
    for (queue, batch, settlement) in [
        (&b"/queues/orders-1"[..], 1, ACK),
        (b"/queues/orders-2", 1, ACK),
        (b"/queues/events", 10, ACK),
        (b"/queues/refused", 1, Settlement::Reject { requeue: false }),
        (b"/queues/again", 1, Settlement::Nack { requeue: true }),
    ] {
        let connection = links.client("java", None);
        let priority = (queue == b"/queues/events").then_some(7);
        links.attach((connection, 1), Attach { priority, ..address(queue, true) });
        // Credit is given back in parts.
        for (at, credit) in [(3, 30), (4 * SECOND, 12), (6 * SECOND, 30)] {
            links.step(at, (connection, 1), Side::Client, Action::Credit(credit));
        }
        links.reader((connection, 1), batch, 5 * MILLIS, settlement);
    }
    let (text, scenario) = links.scenario(Topology::default());
    let [publishers] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!(publishers.protocol, Protocol::Amqp10, "{text}");
    assert_eq!((publishers.count, publishers.connections), (2, 2), "{text}");
    assert_eq!(
        (publishers.size, publishers.queue.as_deref()),
        (Some(300), Some("orders-{}")),
        "{text}"
    );
    assert!((publishers.rate.unwrap() / 50.0 - 1.0).abs() < 0.03, "{text}");
    assert!(publishers.is_persistent() && publishers.has_confirms(), "{text}");
    let of = |queue: &str| scenario.consumers.iter().find(|group| group.queue == queue).unwrap();
    let orders = of("orders-{}");
    assert_eq!(
        (orders.protocol, orders.count, orders.prefetch),
        (Protocol::Amqp10, 2, Some(30)),
        "{text}"
    );
    let time = orders.processing_time.unwrap().as_secs_f64();
    assert!((time / 0.005 - 1.0).abs() < 0.05, "{text}");
    let events = of("events");
    assert!(events.multi_ack_every == 10 && text.contains("priority = 7"), "{text}");
    assert_eq!(of("refused").settle(), Settle::Discard, "{text}");
    assert_eq!(of("again").settle(), Settle::Requeue, "{text}");
    assert!(text.contains("2 publishers by AMQP 1.0 on 2 connections of java"), "{text}");
    assert!(!text.contains("Not expressed"), "{text}");
}

#[test]
fn windows_of_closed_links_are_those_of_each_link() {
    for from_the_start in [true, false] {
        let mut links = links();
        let connection = links.connection(from_the_start);
        // A second link of the connection has its own messages without an outcome.
        links.attach((connection, 1), address(b"/queues/a", false));
        links.attach((connection, 2), address(b"/queues/b", false));
        let (mut at, mut number) = (MILLIS, 0);
        for round in 0..800 {
            for _ in 0..5 {
                number += 1;
                at += 10_000;
                links.step(
                    at,
                    (connection, 1),
                    Side::Client,
                    publish(Some(number), b"", content(100, true)),
                );
            }
            let slow = publish(Some(round + 1), b"", content(9, true));
            links.step(at, (connection, 2), Side::Client, slow);
            at += (3 + round * 7 % 11) * MILLIS;
            links.settle(at, (connection, 1), Side::Broker, (number - 4, number), ACK);
        }
        let (text, scenario) = links.scenario(Topology::default());
        let fast = scenario.publishers.iter().find(|group| group.queue.as_deref() == Some("a"));
        let fast = fast.unwrap();
        assert_eq!((fast.confirm_window, fast.rate), (Some(5), None), "{from_the_start} {text}");
    }
}

#[test]
fn exchanges_have_the_keys_of_addresses_subjects_and_messages() {
    let mut links = links();
    let connection = links.client("proton", None);
    links.attach((connection, 1), address(b"/exchanges/events/a%2Eb", false));
    links.timer((connection, 1), 40 * MILLIS, content(100, false));
    // Version 1: the subject is the key.
    links.attach((connection, 2), address(b"/exchange/logs", false));
    for number in 1..400 {
        let Action::Publish(message) = publish(Some(number), b"", content(70, false)) else {
            return;
        };
        let routing_key = if number % 2 == 0 { &b"info"[..] } else { b"error" };
        let action = Action::Publish(Published { routing_key, ..message });
        links.step(number * 40 * MILLIS, (connection, 2), Side::Client, action);
    }
    // Each message has its own address.
    links.attach((connection, 3), begin(Place::PerMessage, false));
    for number in 1..400 {
        let to = if number % 2 == 0 { &b"/queues/left"[..] } else { b"/queues/right" };
        links.step(
            number * 40 * MILLIS,
            (connection, 3),
            Side::Client,
            publish(Some(number), to, content(50, false)),
        );
    }
    // Its management is no load.
    links.attach((connection, 4), address(b"/management", false));
    links.step(SECOND, (connection, 4), Side::Client, publish(None, b"", content(20, false)));
    let (text, scenario) = links.scenario(Topology::default());
    let of = |size| scenario.publishers.iter().filter(move |group| group.size == Some(size));
    let [events] = of(100).collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!((events.exchange(), events.routing_key()), ("events", "a.b"), "{text}");
    let [logs] = of(70).collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!(logs.exchange(), "logs", "{text}");
    assert_eq!(
        logs.routing_keys.as_deref(),
        Some(&["error".to_owned(), "info".to_owned()][..]),
        "{text}"
    );
    let queues: Vec<_> = of(50).map(|group| group.queue.as_deref().unwrap()).collect();
    assert_eq!(queues, ["left", "right"], "{text}");
    assert_eq!(of(20).count(), 0, "{text}");
    assert!(
        one_line(&text).contains("399 messages by AMQP 1.0 had addresses of their own"),
        "{text}"
    );
}

/// A running node: the client with the address of the first connection reads two queues.
const CONSUMERS: &str = r#"{
  "queues": [{"name":"secret","vhost":"v","durable":true,"auto_delete":false,"arguments":{}}],
  "consumers": [
    {"vhost":"v","queue":"secret","consumer_tag":"3","exclusive":false,"ack_required":true,"prefetch_count":0,
     "channel":17,"peer":"127.0.0.1:40000","protocol":"amqp-1.0"},
    {"vhost":"v","queue":"other","consumer_tag":"4","exclusive":false,"ack_required":true,"prefetch_count":0,
     "channel":17,"peer":"127.0.0.1:40000","protocol":"amqp-1.0"}]}"#;

#[test]
fn links_joined_in_their_middle_have_the_queues_that_the_node_tells() {
    let mut links = links();
    let connection = links.connection(false);
    links.reader((connection, 1), 1, 5 * MILLIS, ACK);
    let topology = Topology::from_definitions(CONSUMERS).unwrap();
    let (text, scenario) = links.scenario(topology.clone());
    assert_eq!(scenario.consumers.len(), 1, "{text}");
    assert_eq!(scenario.consumers[0].queue, "secret", "{text}");
    assert!(text.contains("Assumed: the capture does not show the limit"), "{text}");
    // The other consumer of the connection has no messages.
    let counted = Counted {
        before: Traffic::from_json("{}").unwrap(),
        after: Traffic::from_json("{}").unwrap(),
        has_packets: true,
    };
    let mut flows = links.flows();
    flows.add_counted(&counted, &topology);
    let (text, scenario) = written(&model(&mut flows, topology.clone()));
    assert!(!text.contains("packets were not read"), "{text}");
    let mut queues: Vec<_> = scenario.consumers.iter().map(|group| &group.queue[..]).collect();
    queues.sort_unstable();
    assert_eq!(queues, ["other", "secret"], "{text}");
    assert!(scenario.consumers.iter().all(|group| group.protocol == Protocol::Amqp10), "{text}");
    // Without packets, the consumers remain.
    let mut flows = Flows::without_packets(20.0);
    flows.add_counted(&Counted { has_packets: false, ..counted }, &topology);
    let (text, scenario) = written(&model(&mut flows, topology.clone()));
    assert_eq!(scenario.consumers.len(), 2, "{text}");
    assert!(one_line(&text).contains("messages of 1 clients of AMQP 1.0 and of streams"), "{text}");
    let (mut flows, mut topology) = (links.flows(), topology);
    assert_eq!(anonymous(&mut flows, &mut topology), 0);
    let (text, scenario) = written(&model(&mut flows, topology));
    assert!(!text.contains("secret") && scenario.consumers.len() == 1, "{text}");
}

/// A later node: its sessions tell their links.
const LINKS: &str = r#"{
  "links": [
    {"vhost":"v","peer":"127.0.0.1:40000","channel":1,"handle":0,"address":"/queues/mine","reader":false},
    {"vhost":"v","peer":"127.0.0.1:40000","channel":1,"handle":1,"address":"/exchanges/x/k","reader":false},
    {"vhost":"v","peer":"127.0.0.1:40000","channel":0,"handle":3,"address":"/queues/other","reader":true},
    {"vhost":"v","peer":"127.0.0.1:40000","channel":1,"handle":3,"address":"/queues/read","reader":true}]}"#;

#[test]
fn links_joined_in_their_middle_have_the_targets_that_their_sessions_tell() {
    let mut links = links();
    let connection = links.connection(false);
    for (link, handle, side) in [(1, 3, Side::Broker), (2, 0, Side::Client), (3, 1, Side::Client)] {
        let joined = Action::Joined(Joined { session: 1, handle });
        links.step(1, (connection, link), side, joined);
    }
    links.reader((connection, 1), 1, 5 * MILLIS, ACK);
    links.timer((connection, 2), 20 * MILLIS, content(100, true));
    links.timer((connection, 3), 40 * MILLIS, content(50, true));
    let (text, scenario) = links.scenario(Topology::from_definitions(LINKS).unwrap());
    let of = |size| scenario.publishers.iter().find(|group| group.size == Some(size)).unwrap();
    assert_eq!(of(100).queue.as_deref(), Some("mine"), "{text}");
    assert_eq!((of(50).exchange(), of(50).routing_key()), ("x", "k"), "{text}");
    assert_eq!(scenario.consumers[0].queue, "read", "{text}");
}

#[test]
fn links_of_unknown_queues_are_left_out_and_never_guessed() {
    let mut links = links();
    let connection = links.connection(false);
    links.reader((connection, 1), 1, 5 * MILLIS, ACK);
    links.timer((connection, 2), 20 * MILLIS, content(100, true));
    let two =
        CONSUMERS.replace("\"consumer_tag\":\"4\"", "\"consumer_tag\":\"3\"").replace("17,", "18,");
    let two = two.replacen("18,", "17,", 1);
    for topology in [Topology::default(), Topology::from_definitions(&two).unwrap()] {
        let model = model(&mut links.flows(), topology);
        assert!(model.groups() == 0 && !model.publishes());
        let text = one_line(&text_of(&model));
        assert!(text.contains("1 consumers by AMQP 1.0 of unknown queues are left out"), "{text}");
        assert!(text.contains("999 messages to queues of unknown names are left out"), "{text}");
    }
}

#[test]
fn properties_have_their_number_and_size() {
    let mut links = links();
    let connection = links.client("java", None);
    links.attach((connection, 1), address(b"/queues/q", false));
    let properties = Properties {
        priority: Some(4),
        expiration: Some(60_000),
        headers: Some(Headers { count: 2, bytes: 2 * (1 + 2 + 1 + 4) + 10 }),
        text_bytes: 8,
        ..Properties::default()
    };
    let content = Content { properties: Some(properties), ..content(100, false) };
    links.timer((connection, 1), 20 * MILLIS, content);
    let (text, scenario) = links.scenario(Topology::default());
    let group = &scenario.publishers[0];
    assert_eq!(group.properties.priority, Some(4), "{text}");
    assert_eq!(group.properties.expiration, Some(Duration::from_secs(60)), "{text}");
    assert_eq!(group.properties.headers.len(), 2, "{text}");
    assert_eq!(group.properties.content_type.as_deref(), Some("00000000"), "{text}");
    assert!(!group.is_persistent(), "{text}");
}

#[test]
fn parts_that_a_scenario_lacks_are_listed() {
    let mut links = links();
    let connection = links.client("java", None);
    links.attach((connection, 1), address(b"/queues/q", false));
    let of = OfAmqp10 { is_settled: true, has_header: false, is_read: true };
    for number in 1..100 {
        let content = Content { amqp10: Some(of), ..content(100, false) };
        links.step(
            number * 20 * MILLIS,
            (connection, 1),
            Side::Client,
            publish(None, b"", content),
        );
    }
    links.attach((connection, 2), begin(Place::Transactions, false));
    links.attach((connection, 3), Attach { filters: 2, ..address(b"/queues/q", true) });
    links.attach((connection, 4), address(b"/queues/full", false));
    links.timer((connection, 4), 100 * MILLIS, content(50, true));
    links.settle(
        SECOND + 1,
        (connection, 4),
        Side::Broker,
        (10, 10),
        Settlement::Reject { requeue: false },
    );
    links.settle(
        2 * SECOND + 1,
        (connection, 4),
        Side::Broker,
        (20, 20),
        Settlement::Reject { requeue: true },
    );
    let idle = links.connection(false);
    links.step(SECOND, (idle, 0), Side::Client, Action::Ping);
    let (text, scenario) = links.scenario(Topology::default());
    for part in [
        "99 messages by AMQP 1.0 were settled when they were sent",
        "99 messages by AMQP 1.0 have no header",
        "1 links of AMQP 1.0 are for transactions",
        "2 filters of readers",
        "1 messages by AMQP 1.0 or of streams were refused",
        "1 messages came back without a route",
        "1 connections of AMQP 1.0 and of streams without messages",
        "Not expressed: their messages were settled when they were sent.",
    ] {
        assert!(one_line(&text).contains(part), "{part}\n{text}");
    }
    let settled = |group: &&PublisherGroup| group.size == Some(100);
    assert!(scenario.publishers.iter().find(settled).unwrap().is_persistent(), "{text}");
}

/// A publisher and a consumer of these groups.
fn two_clients(groups: [Option<&'static str>; 2], gap: u64) -> Links {
    let mut links = links();
    let publisher = links.client("rabbitscope", groups[0]);
    links.attach((publisher, 1), address(b"/queues/q", false));
    links.timer((publisher, 1), gap, content(100, true));
    let reader = links.client("rabbitscope", groups[1]);
    links.attach((reader, 1), address(b"/queues/q", true));
    links.step(3, (reader, 1), Side::Client, Action::Credit(20));
    links.reader((reader, 1), 1, 5 * MILLIS, ACK);
    links
}

#[test]
fn links_of_a_run_belong_to_the_groups_of_their_names() {
    let mut flows = two_clients([None, None], 20 * MILLIS).flows();
    let model = model(&mut flows, Topology::default());
    let source = Measurements::from_model(&model, &flows);
    let (_, scenario) = written(&model);
    let check = |groups, gap, expected: &[&str]| {
        let flows = two_clients(groups, gap).flows();
        let likeness = compare(&source, &Measurements::from_run(&flows, &source, &scenario));
        assert_eq!(likeness.different_groups(), expected, "{}", likeness.text());
    };
    check([Some("publishers-1"), Some("consumers-1")], 20 * MILLIS, &[]);
    check([Some("publishers-1"), Some("consumers-1")], 30 * MILLIS, &["publishers-1"]);
    check([None, Some("other")], 20 * MILLIS, &["consumers-1", "publishers-1"]);
}
