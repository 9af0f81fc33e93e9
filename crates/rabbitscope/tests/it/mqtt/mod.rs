//! Load by MQTT.

mod contents;
mod faults;
mod interoperation;
mod logins;
mod refusals;
mod runs;
mod versions;

use std::sync::OnceLock;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    broker_with,
    scenario::{Consumers, Publishers},
};

/// A broker with MQTT that the tests share.
fn broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| broker_with(|spec| spec.plugins.push("rabbitmq_mqtt".to_owned())))
}

fn publishers(topic: &str) -> Publishers {
    Publishers::to_topic(topic).protocol("mqtt")
}

fn readers(topics: &[&str]) -> Consumers {
    Consumers::of_topics(topics).protocol("mqtt")
}
