//! RabbitMQ's stream protocol: commands.
//!
//! From the protocol's description in the broker's sources, `deps/rabbitmq_stream/docs/PROTOCOL.adoc`.

mod command;
mod entries;
mod grammar;
mod private;
mod publishing;

pub(super) use grammar::{Grammar, may_begin, opens};
pub(crate) use publishing::entries;
