//! Methods: [`Request`] is what clients send, [`ServerMethod`] what the broker sends.
//!
//! Numbers of classes and methods are from the AMQP 0-9-1 specification and RabbitMQ's extensions.

mod class;
mod request;
mod server;

pub(crate) use class::BASIC;
pub use request::Request;
pub(crate) use request::{Handshake, write_handshake, write_publish, write_request};
pub use server::Reply;
pub(crate) use server::{ContentMethod, ServerMethod};
