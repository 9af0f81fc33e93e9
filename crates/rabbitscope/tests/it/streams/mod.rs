//! Load by the stream protocol.

mod faults;
mod interoperation;
mod refusals;
mod runs;

use std::sync::OnceLock;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    broker_with,
    scenario::{Consumers, Publishers, Queue},
};

/// A broker with streams that the tests share.
fn broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| broker_with(|spec| spec.plugins.push("rabbitmq_stream".to_owned())))
}

fn stream(name: &str) -> Queue {
    Queue::new(name).of_type("stream")
}

fn publishers(name: &str) -> Publishers {
    Publishers::new(name).protocol("stream")
}

fn readers(name: &str) -> Consumers {
    Consumers::new(name).protocol("stream").offset("first")
}
