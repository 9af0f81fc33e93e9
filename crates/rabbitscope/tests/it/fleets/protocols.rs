//! Loads of several processes by other protocols than AMQP 0-9-1.

use std::sync::OnceLock;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    broker_with, count, latency, queues_on,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

use super::workers::Place;

/// A broker that speaks AMQP 1.0, also before 4.0, and MQTT.
fn broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| {
        broker_with(|spec| {
            spec.plugins = ["rabbitmq_amqp1_0", "rabbitmq_mqtt"].map(str::to_owned).to_vec();
        })
    })
}

/// Runs a scenario in three processes: all messages are confirmed, and all deliveries are measured.
fn check(place: &Place, scenario: Scenario, messages: u64, deliveries: u64) {
    place.bench.file("s.toml", scenario.until("idle"));
    place.run(3, "out", "").code(0);
    let record = place.record("out");
    assert_eq!((count(&record, "published"), count(&record, "confirmed")), (messages, messages));
    assert_eq!(count(&record, "consumed"), deliveries);
    assert_eq!(latency(&record, "end-to-end")["count"], deliveries);
    assert_eq!(record["fleet"]["workers"].as_array().unwrap().len(), 3);
    assert!(!queues_on(place.broker).contains(place.fleet), "the topology is removed");
}

#[test]
fn workers_share_a_load_by_amqp_1_0() {
    let place = Place::on("fleet-amqp10", broker());
    let queue = "fleet-amqp10-{}";
    let scenario = Scenario::new("fleet-amqp10")
        .queues(Queue::new(queue).from(1).to(4))
        .publishers(
            Publishers::new(queue)
                .protocol("amqp-1.0")
                .count(8)
                .connections(4)
                .messages(1001)
                .confirm_window(100),
        )
        .consumers(
            Consumers::new(queue)
                .protocol("amqp-1.0")
                .count(8)
                .connections(4)
                .prefetch(100)
                .multi_ack_every(5),
        );
    check(&place, scenario, 8008, 8008);
}

/// Each member is a client, whose name no other worker's client has.
#[test]
fn workers_share_a_load_by_mqtt() {
    let place = Place::on("fleet-mqtt", broker());
    let scenario = Scenario::new("fleet-mqtt")
        .publishers(Publishers::to_topic("fleet/{}").protocol("mqtt").to(4).count(8).messages(500))
        .consumers(Consumers::of_topics(&["fleet/#"]).protocol("mqtt").count(3));
    check(&place, scenario, 4000, 12_000);
}
