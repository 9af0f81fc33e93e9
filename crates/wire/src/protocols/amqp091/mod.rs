//! AMQP 0-9-1: frames of methods, content headers, bodies and heartbeats, with RabbitMQ's extensions.
//!
//! From the specification (AMQP 0-9-1, section 4.2) and <https://www.rabbitmq.com/amqp-0-9-1-reference>.

mod content;
mod grammar;
mod method;
mod names;
mod private;

pub(super) use grammar::{Grammar, may_begin, opens};
