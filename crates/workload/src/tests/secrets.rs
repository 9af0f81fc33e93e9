//! Values of applications are in no file.

use rabbitscope_runs::scenario;
use rabbitscope_wire::{
    analyzer::{Analyzer, AnalyzerOptions},
    capture::PacketReader,
    decode::decode_inner,
};

use super::talk::{Owned, SECOND, Talk, properties};
use crate::{Flows, Observer, Origin, Topology, model};

#[test]
fn names_with_strange_characters_stay_readable_and_harmless() {
    let mut talk = Talk::default();
    let queue = "q\"\n[broker]\nuri = \\ \u{7f}ä";
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Declare(queue.to_owned(), true));
    for number in 0..50 {
        let (exchange, key) = (String::new(), queue.to_owned());
        let publish = Owned::Publish { exchange, key, bytes: 10, properties: properties(1, 0, 0) };
        talk.client(number * SECOND / 10 + 2, connection, publish);
    }
    let (text, scenario) = talk.scenario();
    assert_eq!(scenario.queues[0].name, queue, "{text}");
    assert_eq!(scenario.publishers[0].queue.as_deref(), Some(queue));
}

/// A conversation of pika with RabbitMQ: publishes, refusals, questions.
const PIKA: &[u8] = include_bytes!("../../../wire/tests/it/recorded/pika.pcap");
const BROKER: u16 = 26_685;
/// Values in the conversation: a body, the password, a content type.
const VALUES: [&str; 3] = ["body of a message", "f0fe1c69124ca90b41d136720365e76c", "text/plain"];

fn observed(capture: &[u8], port: u16) -> Flows {
    let options = AnalyzerOptions { ports: vec![port], ..AnalyzerOptions::new("a capture") };
    let mut analyzer = Analyzer::with_listener(options, Observer::default());
    let mut reader = PacketReader::new(capture).unwrap();
    while let Some(packet) = reader.next().unwrap() {
        analyzer.decoded(&packet, &decode_inner(&packet));
    }
    analyzer.finish_listening().1.finish()
}

#[test]
fn a_recorded_conversation_becomes_a_scenario_without_its_values() {
    let mut flows = observed(PIKA, BROKER);
    assert_eq!(flows.messages(), (23, 24));
    let model = model(&mut flows, Topology::default());
    let origin = Origin { name: "pika".to_owned(), ..Origin::default() };
    let text = crate::scenario(&model, &origin, crate::RunLength::from_seconds(5));
    let scenario = scenario::parse(&text, "pika", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(scenario.exchanges[0].name, "wire-exchange", "{text}");
    assert!(text.contains("publisher on 1 connection of Pika"), "{text}");
    for value in VALUES {
        assert!(PIKA.windows(value.len()).any(|bytes| bytes == value.as_bytes()), "{value}");
        assert!(!text.contains(value), "{value}\n{text}");
    }
}

/// A conversation of paho with RabbitMQ.
const PAHO: &[u8] = include_bytes!("../../../wire/tests/it/recorded/paho.pcap");
const MQTT: u16 = 30_972;

#[test]
fn a_recorded_conversation_of_mqtt_becomes_a_scenario_without_its_values() {
    let mut flows = observed(PAHO, MQTT);
    assert_eq!(flows.messages(), (30, 30));
    let model = model(&mut flows, Topology::default());
    let origin = Origin { name: "paho".to_owned(), ..Origin::default() };
    let text = crate::scenario(&model, &origin, crate::RunLength::from_seconds(5));
    let scenario = scenario::parse(&text, "paho", &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    // The client has published with both qualities of service.
    assert_eq!((scenario.publishers.len(), scenario.consumers.len()), (2, 1), "{text}");
    for value in &VALUES[..2] {
        assert!(!text.contains(value), "{value}\n{text}");
    }
    assert!(PAHO.windows(VALUES[1].len()).any(|bytes| bytes == VALUES[1].as_bytes()));
}
