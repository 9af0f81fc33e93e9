//! Methods: [`Request`] is what clients send, [`ServerMethod`] what the broker sends.
//!
//! Numbers of classes and methods are from the AMQP 0-9-1 specification and RabbitMQ's extensions.

mod request;
mod server;

pub use request::Request;
pub(crate) use request::{Handshake, write_handshake, write_publish, write_request};
pub use server::Reply;
pub(crate) use server::{ContentMethod, ServerMethod};

/// Numbers of classes.
mod class {
    pub(super) const CONNECTION: u16 = 10;
    pub(super) const CHANNEL: u16 = 20;
    pub(super) const EXCHANGE: u16 = 40;
    pub(super) const QUEUE: u16 = 50;
    pub(super) const BASIC: u16 = 60;
    pub(super) const CONFIRM: u16 = 85;
    pub(super) const TX: u16 = 90;
}

/// Class number of messages in content headers.
pub(crate) const BASIC: u16 = class::BASIC;
