//! Clients of MQTT, from their beginning and in their middle.

use core::time::Duration;

use rabbitscope_runs::scenario::{self, MqttVersion, Protocol, Scenario};
use rabbitscope_wire::{
    activity::{
        Action, ActivityListener, Connect, Content, Delivered, Ends, Event, Filters, Headers,
        OfMqtt, Properties, Published, Settled, Settlement,
    },
    packet::Timestamp,
    protocols::{self, ContentHeader},
    report::Side,
};

use super::talk::{MILLIS, SECOND};
use crate::{
    Counted, Flows, Measurements, Model, Observer, Origin, Topology, Traffic, anonymous, compare,
    model,
};

/// What happens on connections, at its time in nanoseconds.
#[derive(Default)]
struct Packets {
    steps: Vec<(u64, u64, Side, Action<'static>)>,
    opened: Vec<bool>,
}

impl Packets {
    fn connection(&mut self, from_the_start: bool) -> u64 {
        self.opened.push(from_the_start);
        self.opened.len() as u64 - 1
    }

    /// Adds a client that connects with this level.
    fn client(&mut self, level: u8, client_id: &'static str) -> u64 {
        let connection = self.connection(true);
        let connect = connect(level, client_id);
        self.step(1, connection, Side::Client, Action::Connect(connect));
        connection
    }

    fn step(&mut self, at: u64, connection: u64, side: Side, action: Action<'static>) {
        self.steps.push((at, connection, side, action));
    }

    fn publish(&mut self, at: u64, connection: u64, topic: &'static str, number: Option<u64>) {
        let content = content(None, u8::from(number.is_some()), 100);
        let (exchange, routing_key) = (&b"amq.topic"[..], topic.as_bytes());
        let publish = Published { exchange, routing_key, mandatory: false, number, content };
        self.step(at, connection, Side::Client, Action::Publish(publish));
    }

    fn deliver(&mut self, at: u64, connection: u64, topic: &'static str, delivery_tag: u64) {
        let deliver = Delivered {
            consumer_tag: Some(b""),
            delivery_tag,
            redelivered: false,
            exchange: b"amq.topic",
            routing_key: topic.as_bytes(),
            content: content(None, u8::from(delivery_tag > 0), 100),
        };
        self.step(at, connection, Side::Broker, Action::Deliver(deliver));
    }

    fn settle(&mut self, at: u64, connection: u64, side: Side, delivery_tag: u64) {
        let settled = Settled { delivery_tag, multiple: false, settlement: Settlement::Ack };
        self.step(at, connection, side, Action::Settle(settled));
    }

    /// Publishes by a timer for 20 s, each message confirmed after a millisecond.
    fn timer(&mut self, connection: u64, topic: &'static str, gap: u64) {
        for number in 1..20 * SECOND / gap {
            let at = number * gap + connection * 777_777;
            self.publish(at, connection, topic, Some(number));
            self.settle(at + MILLIS, connection, Side::Broker, number);
        }
    }

    fn observed(&self) -> Observer {
        let mut observer = Observer::default();
        for (number, from_the_start) in (0..).zip(&self.opened) {
            let ends = Ends {
                client: ([127, 0, 0, 1], 40_000 + u16::try_from(number).unwrap()).into(),
                broker: ([127, 0, 0, 1], 1_883).into(),
                from_the_start: *from_the_start,
                time: Timestamp::from_unix_nanos(0),
            };
            observer.opened(number, &ends);
        }
        let mut steps: Vec<_> = self.steps.iter().collect();
        steps.sort_by_key(|(at, ..)| *at);
        for (at, connection, sender, action) in steps {
            let event = Event {
                sender: *sender,
                protocol: protocols::Protocol::Mqtt,
                channel: 0,
                time: Timestamp::from_unix_nanos(*at),
                first_packet: 1,
                last_packet: 1,
                frames: 1,
                is_frame_by_frame: true,
                action: *action,
            };
            observer.event(*connection, &event);
        }
        for number in (0..).take(self.opened.len()) {
            observer.ended(number, Timestamp::from_unix_nanos(20 * SECOND), false);
        }
        observer
    }

    #[track_caller]
    fn scenario(&self, topology: Topology) -> (String, Scenario) {
        written(&model(&mut self.observed().finish(), topology))
    }
}

#[track_caller]
fn written(model: &Model) -> (String, Scenario) {
    let origin = Origin { name: "test".to_owned(), ..Origin::default() };
    let text = crate::scenario(model, &origin, crate::RunLength::from_seconds(10));
    let read = scenario::parse(&text, "test", &[]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, read)
}

fn connect(level: u8, client_id: &'static str) -> Connect<'static> {
    let (client_id, receive_maximum) = (client_id.as_bytes(), (level == 5).then_some(20));
    Connect { level, client_id, is_persistent: false, has_will: false, receive_maximum }
}

fn content(level: Option<u8>, quality_of_service: u8, body_bytes: u64) -> Content {
    let header = ContentHeader { body_bytes, ..ContentHeader::default() };
    let mqtt = Some(OfMqtt { level, quality_of_service, is_retained: false });
    Content { header, properties: Some(Properties::default()), mqtt, ..Content::default() }
}

fn subscribe(filters: &'static [u8]) -> Action<'static> {
    Action::Subscribe(Filters::new(filters, Some(4)))
}

#[test]
fn clients_come_back_with_version_quality_and_topics() {
    let mut packets = Packets::default();
    for (id, topic) in [("a", "sensors/1/state"), ("b", "sensors/2/state")] {
        let client = packets.client(4, id);
        packets.timer(client, topic, 20 * MILLIS);
    }
    let fast = packets.client(5, "c");
    for number in 1..2_000 {
        packets.publish(number * 10 * MILLIS, fast, "alarms", None);
    }
    let reader = packets.client(5, "d");
    packets.step(2, reader, Side::Client, subscribe(b"\0\x0fsensors/+/state\x01\0\x08alarms/#\0"));
    for number in 1..300 {
        let at = number * 60 * MILLIS;
        packets.deliver(at, reader, "sensors/1/state", number);
        packets.settle(at + 10 * MILLIS, reader, Side::Client, number);
    }
    let (text, scenario) = packets.scenario(Topology::default());
    assert!(scenario.queues.is_empty() && scenario.exchanges.is_empty(), "{text}");
    let [one, other] = &scenario.publishers[..] else { panic!("{text}") };
    assert!([one, other].iter().all(|group| group.protocol == Protocol::Mqtt), "{text}");
    assert_eq!(
        (one.mqtt_version, one.qos, one.count),
        (Some(MqttVersion::V3), Some(1), 2),
        "{text}"
    );
    assert!(text.contains("topic = \"sensors/{}/state\"\nfrom = 1\nto = 2"), "{text}");
    assert!((one.rate.unwrap() / 50.0 - 1.0).abs() < 0.03 && one.has_confirms(), "{text}");
    assert_eq!((other.mqtt_version, other.qos), (Some(MqttVersion::V5), Some(0)), "{text}");
    assert!((other.rate.unwrap() / 100.0 - 1.0).abs() < 0.03 && !other.has_confirms(), "{text}");
    let [consumers] = &scenario.consumers[..] else { panic!("{text}") };
    assert_eq!(consumers.topics, ["alarms/#", "sensors/+/state"], "{text}");
    assert_eq!((consumers.qos, consumers.prefetch), (Some(1), Some(20)), "{text}");
    let processing = consumers.processing_time.unwrap().as_secs_f64();
    assert!((processing / 0.01 - 1.0).abs() < 0.05, "{text}");
    assert!(text.contains("2 publishers by MQTT 3.1.1 on 2 connections"), "{text}");
    assert!(!text.contains("Assumed") && !text.contains("Not expressed"), "{text}");
}

#[test]
fn properties_of_version_5_have_their_number_and_size() {
    let mut packets = Packets::default();
    let client = packets.client(5, "a");
    for number in 1..100 {
        let headers = Some(Headers { count: 2, bytes: 2 * (1 + 2 + 1 + 4) + 10 });
        let expiration = Some(60_000);
        let properties = Properties { headers, expiration, text_bytes: 8, ..Properties::default() };
        let content = Content { properties: Some(properties), ..content(None, 0, 100) };
        let (exchange, routing_key) = (&b"amq.topic"[..], &b"a"[..]);
        let (mandatory, at) = (false, number * 20 * MILLIS);
        let publish = Published { exchange, routing_key, mandatory, number: None, content };
        packets.step(at, client, Side::Client, Action::Publish(publish));
    }
    let (text, scenario) = packets.scenario(Topology::default());
    let properties = &scenario.publishers[0].properties;
    assert_eq!(properties.expiration, Some(Duration::from_secs(60)), "{text}");
    assert_eq!(properties.headers.len(), 2, "{text}");
    assert_eq!(properties.content_type.as_deref(), Some("00000000"), "{text}");
}

#[test]
fn windows_of_closed_clients_are_known_once_all_is_confirmed() {
    for from_the_start in [true, false] {
        let mut packets = Packets::default();
        let client =
            if from_the_start { packets.client(4, "a") } else { packets.connection(false) };
        // Five messages, then their confirms, after different times.
        let (mut at, mut number) = (MILLIS, 0);
        for round in 0..800 {
            for _ in 0..5 {
                number += 1;
                at += 10_000;
                packets.publish(at, client, "a", Some(number));
            }
            at += (3 + round * 7 % 11) * MILLIS;
            (number - 4..=number).for_each(|of| packets.settle(at, client, Side::Broker, of));
        }
        let (text, scenario) = packets.scenario(Topology::default());
        assert_eq!(scenario.publishers[0].confirm_window, Some(5), "{from_the_start} {text}");
        assert_eq!(scenario.publishers[0].rate, None, "{text}");
    }
}

#[test]
fn clients_are_joined_in_their_middle() {
    let mut packets = Packets::default();
    let publisher = packets.connection(false);
    packets.timer(publisher, "a/b", 20 * MILLIS);
    let reader = packets.connection(false);
    for number in 1..300 {
        packets.deliver(number * 60 * MILLIS, reader, "a/b", 0);
    }
    let idle = packets.connection(false);
    packets.step(SECOND, idle, Side::Client, Action::Ping);
    let (text, scenario) = packets.scenario(Topology::default());
    let [group, idle] = &scenario.publishers[..] else { panic!("{text}") };
    assert_eq!((group.mqtt_version, idle.rate), (Some(MqttVersion::V3), Some(0.0)), "{text}");
    assert_eq!(idle.protocol, Protocol::Mqtt, "{text}");
    let [consumers] = &scenario.consumers[..] else { panic!("{text}") };
    assert_eq!(
        (&consumers.topics[..], consumers.qos),
        (&["a/b".to_owned()][..], Some(0)),
        "{text}"
    );
    assert!(text.contains("# Assumed: no source shows the subscription"), "{text}");
    assert!(text.contains("taken for 3.1.1"), "{text}");
}

const DEFINITIONS: &str = r#"{
  "queues": [
    {"name":"mqtt-subscription-device-7qos1","vhost":"/","durable":true,"auto_delete":false,"arguments":{}},
    {"name":"archive","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
  "bindings": [
    {"source":"amq.topic","vhost":"/","destination":"mqtt-subscription-device-7qos1",
     "destination_type":"queue","routing_key":"commands.*.#"},
    {"source":"amq.topic","vhost":"/","destination":"archive","destination_type":"queue","routing_key":"a.#"}]}"#;

#[test]
fn bindings_show_the_filters_of_a_session_that_was_there() {
    let mut packets = Packets::default();
    let publisher = packets.client(4, "x");
    packets.timer(publisher, "a/b", 20 * MILLIS);
    let client = packets.connection(true);
    let has = Connect { is_persistent: true, has_will: true, ..connect(4, "device-7") };
    packets.step(1, client, Side::Client, Action::Connect(has));
    packets.deliver(SECOND, client, "commands/1/x", 1);
    packets.settle(SECOND + MILLIS, client, Side::Client, 1);
    let topology = Topology::from_definitions(DEFINITIONS).unwrap();
    let (text, scenario) = packets.scenario(topology);
    assert_eq!(scenario.consumers[0].topics, ["commands/+/#"], "{text}");
    assert_eq!(scenario.consumers[0].qos, Some(1), "{text}");
    // Queues of AMQP 0-9-1 get messages of MQTT as well.
    let queues: Vec<&str> = scenario.queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(queues, ["archive"], "{text}");
    assert!(text.contains("1 clients of MQTT have a will"), "{text}");
    assert!(text.contains("1 clients of MQTT have sessions that outlive"), "{text}");
    assert!(!text.contains("device-7") && !text.contains("mqtt-subscription"), "{text}");
}

/// A running node: the client with the address of the first connection reads a queue.
const CONSUMER: &str = r#"{
  "bindings": [
    {"source":"amq.topic","vhost":"v","destination":"mqtt-subscription-xqos1","destination_type":"queue",
     "routing_key":"secret.*"}],
  "consumers": [
    {"vhost":"v","queue":"mqtt-subscription-xqos1","consumer_tag":"ctag1","exclusive":false,"ack_required":true,
     "prefetch_count":10,"channel":1,"peer":"127.0.0.1:40000"}]}"#;

#[test]
fn the_node_shows_the_queue_of_a_client_that_was_there() {
    let mut packets = Packets::default();
    let reader = packets.connection(false);
    for number in 1..300 {
        packets.deliver(number * 60 * MILLIS, reader, "secret/b", 0);
    }
    let topology = Topology::from_definitions(CONSUMER).unwrap();
    let (text, scenario) = packets.scenario(topology.clone());
    assert_eq!(scenario.consumers[0].topics, ["secret/+"], "{text}");
    assert_eq!(scenario.consumers[0].qos, Some(1), "{text}");
    let publisher = packets.client(4, "secret-id");
    packets.timer(publisher, "secret/b", 20 * MILLIS);
    let (mut flows, mut topology) = (packets.observed().finish(), topology);
    assert_eq!(anonymous(&mut flows, &mut topology), 0);
    let (text, scenario) = written(&model(&mut flows, topology));
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(scenario.consumers[0].topics, ["aaaaaa/+"], "{text}");
}

#[test]
fn a_silent_subscriber_is_a_reader_and_no_idle_client() {
    let topology = Topology::from_definitions(CONSUMER).unwrap();
    let counted = Counted {
        before: Traffic::from_json("{}").unwrap(),
        after: Traffic::from_json("{}").unwrap(),
        has_packets: true,
    };
    for deliveries in [0, 1] {
        let mut packets = Packets::default();
        let reader = packets.connection(false);
        packets.step(SECOND, reader, Side::Client, Action::Ping);
        for number in 0..deliveries {
            packets.deliver(number + 1, reader, "secret/b", 0);
        }
        let mut flows = packets.observed().finish();
        flows.add_counted(&counted, &topology);
        let (text, scenario) = written(&model(&mut flows, topology.clone()));
        assert!(scenario.publishers.is_empty() && scenario.queues.is_empty(), "{text}");
        let [consumers] = &scenario.consumers[..] else { panic!("{text}") };
        assert_eq!((&consumers.topics[..], consumers.count), (&["secret/+".to_owned()][..], 1));
    }
}

#[test]
fn parts_that_a_scenario_lacks_are_listed() {
    let mut packets = Packets::default();
    let client = packets.client(4, "a");
    for number in 1..100 {
        let mut content = content(None, 2, 100);
        content.mqtt = content.mqtt.map(|of| OfMqtt { is_retained: true, ..of });
        let (exchange, routing_key) = (&b"amq.topic"[..], &b"a"[..]);
        let at = number * 20 * MILLIS;
        let number = Some(number);
        let publish = Published { exchange, routing_key, mandatory: false, number, content };
        packets.step(at, client, Side::Client, Action::Publish(publish));
    }
    packets.publish(3 * SECOND, client, "", None);
    packets.step(5, client, Side::Client, subscribe(b"\0\x0a$share/a/b\x01\0\x05v1.0b\x01"));
    let (text, scenario) = packets.scenario(Topology::default());
    for part in [
        "99 messages by MQTT were retained",
        "99 messages and filters of MQTT asked for quality of service 2",
        "1 messages by MQTT had a topic that no packet showed",
        "1 messages and filters of MQTT have a dot",
        "1 filters of subscriptions are left out",
        "1 clients of MQTT published with quality of service 0 and 1",
    ] {
        let one_line = text.replace("\n#  ", "");
        assert!(one_line.contains(part), "{part}\n{text}");
    }
    assert_eq!(scenario.publishers.len(), 2, "{text}");
    assert_eq!(scenario.consumers[0].topics, ["v1_0b"], "{text}");
}

/// A publisher and a consumer, with these identifiers.
fn two_clients(ids: [&'static str; 2], gap: u64) -> Flows {
    let mut packets = Packets::default();
    let publisher = packets.client(4, ids[0]);
    packets.timer(publisher, "a/b", gap);
    let reader = packets.client(5, ids[1]);
    packets.step(2, reader, Side::Client, subscribe(b"\0\x01#\x01"));
    for number in 1..300 {
        let at = number * 60 * MILLIS;
        packets.deliver(at, reader, "a/b", number);
        packets.settle(at + 10 * MILLIS, reader, Side::Client, number);
    }
    packets.observed().finish()
}

#[test]
fn clients_of_a_run_belong_to_the_groups_of_their_numbers() {
    let mut flows = two_clients(["a", "b"], 20 * MILLIS);
    let model = model(&mut flows, Topology::default());
    let source = Measurements::from_model(&model, &flows);
    let (_, scenario) = written(&model);
    let check = |ids, gap, expected: &[&str]| {
        let flows = two_clients(ids, gap);
        let likeness = compare(&source, &Measurements::from_run(&flows, &source, &scenario));
        assert_eq!(likeness.different_groups(), expected, "{}", likeness.text());
    };
    let of_run = ["rabbitscope-run-1", "rabbitscope-run-0"];
    check(of_run, 20 * MILLIS, &[]);
    check(of_run, 30 * MILLIS, &["publishers-1"]);
    check(["rabbitscope-run-9", "other"], 20 * MILLIS, &["consumers-1", "publishers-1"]);
}
