//! AMQP 0-9-1: frames of methods, content headers, bodies and heartbeats, with RabbitMQ's extensions.
//!
//! Numbers and layouts are those of the crate `amqp`.

mod content;
mod grammar;
mod method;
mod private;

pub(super) use grammar::{Grammar, may_begin, opens};
