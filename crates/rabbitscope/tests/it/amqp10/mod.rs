//! Load by AMQP 1.0.

mod contents;
mod faults;
mod filters;
mod interoperation;
mod logins;
mod outcomes;
mod refusals;
mod runs;

use std::sync::OnceLock;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    broker_with, evaluate,
    scenario::{Consumers, Publishers},
};

/// The broker's plugin, which does nothing since 4.0.
const PLUGIN: &str = "rabbitmq_amqp1_0";

/// A broker with AMQP 1.0 that the tests share.
fn broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| broker_with(|spec| spec.plugins.push(PLUGIN.to_owned())))
}

/// Returns the first two numbers of the broker's version.
fn release() -> (u32, u32) {
    let version = evaluate(broker(), "rabbit_misc:version()");
    let mut numbers = version.trim_matches('"').split('.').map(|part| part.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// Returns whether the broker is of 4.0 or later, where AMQP 1.0 is no plugin.
fn is_native() -> bool {
    release() >= (4, 0)
}

fn publishers(queue: &str) -> Publishers {
    Publishers::new(queue).protocol("amqp-1.0")
}

fn through(exchange: &str, key: &str) -> Publishers {
    Publishers::through(exchange, key).protocol("amqp-1.0")
}

fn consumers(queue: &str) -> Consumers {
    Consumers::new(queue).protocol("amqp-1.0")
}
