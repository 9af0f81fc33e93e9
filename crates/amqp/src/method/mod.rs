//! Methods: clients send a [`Request`], the broker sends a [`ServerMethod`].
//!
//! Class and method ids come from the AMQP 0-9-1 specification and RabbitMQ's extensions.

mod class;
mod request;
mod server;

pub(crate) use class::BASIC;
pub use request::Request;
pub(crate) use request::{Handshake, write_handshake, write_publish, write_request};
pub use server::Reply;
pub(crate) use server::{ContentMethod, ServerMethod};
