//! MQTT 3.1.1 and 5, made for speed: a codec and a connection without input and output of their own.
//!
//! The caller owns the socket and the clock, as with AMQP 0-9-1 (crate `amqp`). It reads available bytes and takes
//! [`Event`]s from the [`Connection`]. Packet identifiers stay inside: the caller counts its messages from 1, and asks
//! with [`Connection::room`] for the number of messages that may be sent. Sessions are always clean.
//!
//! Deliberately absent: threads, event loops, retries, TLS, load, wills, retained messages, and a quality of service of
//! 2, which `RabbitMQ` does not have.

pub mod blocking;
mod codec;
mod connection;
mod error;
mod event;
mod message_properties;
pub mod protocol;
mod publish;
mod topic;

pub use connection::{Connection, Login, Mechanism};
pub use error::ConnectionError;
pub use event::{Event, Message};
pub use message_properties::{Blank, Properties};
pub use protocol::{reason::Reason, version::Version};
pub use publish::{Content, Template};
pub use topic::{QualityOfService, Topic};
