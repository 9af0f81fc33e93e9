//! Clients of brokers and of the program's own servers.

pub mod http;

mod amqp;
mod mqtt;

pub use amqp::{connect, consume, durable_queue, encode_frame, take, with_length};
pub use mqtt::mqtt_client;
