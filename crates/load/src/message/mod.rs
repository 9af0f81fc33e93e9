//! Message bodies, properties, routing keys and stamps.

mod amqp091;
mod amqp091_properties;
mod amqp10;
mod amqp10_sections;
mod bodies;
mod body_files;
mod encoder;
mod json;
mod messages;
mod mqtt;
mod mqtt_payload;
mod payload;
mod streams;

pub(crate) use amqp10::{lane, session};
pub(crate) use amqp10_sections::scalar;
pub use body_files::{BodyFiles, unreadable_file};
pub(crate) use encoder::Encoder;
pub(crate) use messages::Messages;
pub(crate) use mqtt::{quality, version};
pub(crate) use payload::Payload;
pub(crate) use streams::{number, sub_entry_codec};
