//! Load by the stream protocol.

mod conversions;
mod faults;
mod filters;
mod interoperation;
mod refusals;
mod runs;
mod tokens;
mod turns;

use std::sync::OnceLock;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    broker_with, evaluate,
    scenario::{Consumers, Publishers, Queue},
};

/// First release with single active consumers of streams.
const SINGLE: (u32, u32) = (3, 11);

/// First release with filters of streams.
const FILTERS: (u32, u32) = (3, 13);

/// First release with filters by properties, for readers of AMQP 1.0.
const CONDITIONS: (u32, u32) = (4, 1);

/// A broker with streams that the tests share.
fn broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| broker_with(|spec| spec.plugins.push("rabbitmq_stream".to_owned())))
}

/// Returns whether the broker is of this release or a later one.
fn has_commands_of(release: (u32, u32)) -> bool {
    let version = evaluate(broker(), "rabbit_misc:version()");
    let mut parts = version.trim().trim_matches('"').split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap()) >= release
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
