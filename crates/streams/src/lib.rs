//! RabbitMQ's stream protocol, made for speed: a codec and a connection without input and output of their own.
//!
//! The caller owns the socket and the clock, as with AMQP 0-9-1 (crate `amqp`). It reads available bytes and takes
//! [`Event`]s from the [`Connection`]. Messages are those of AMQP 1.0, so that readers of other protocols understand
//! them. A chunk of messages is read entry by entry, so a large one needs no memory of its size.
//!
//! Deliberately absent: threads, event loops, retries, TLS, load, and the checksums of chunks, since TCP has its own.

pub mod blocking;
mod codec;
mod connection;
mod error;
mod event;
mod offset;
pub mod protocol;
mod publish;
mod super_stream;

pub use connection::{Codec, Compress, Connection, Login, Mechanism};
pub use error::ConnectionError;
pub use event::{Event, Message, Packed};
pub use offset::Offset;
pub use protocol::codes::Code;
pub use publish::{Content, Template};
pub use super_stream::partition;
