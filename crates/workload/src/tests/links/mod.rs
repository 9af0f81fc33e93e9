//! Clients of AMQP 1.0 and of the stream protocol, from their beginning and in their middle.

mod amqp10;
mod streams;
mod talk;
