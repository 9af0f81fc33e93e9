//! AMQP 1.0, made for speed: a codec and a connection without input and output of their own.
//!
//! The caller owns the socket and the clock, as with AMQP 0-9-1 (crate `amqp`). It reads available bytes and takes
//! [`Event`]s from the [`Connection`]. The connection counts credit and windows in both directions, so that a caller who
//! asks for [`Connection::room`] never exceeds them. [`Addressing`] knows the two forms of RabbitMQ's addresses.
//!
//! Deliberately absent: threads, event loops, retries, TLS, load, transactions, and management of queues, which AMQP
//! 0-9-1 does.

mod address;
pub mod blocking;
mod codec;
mod connection;
mod error;
mod event;
mod filter;
mod message;
mod outcome;
pub mod protocol;
mod scalar;
mod serial;

pub use address::Addressing;
pub use connection::{Connection, Login, Mechanism, Receiver, Sender};
pub use error::{ConnectionError, Refusal};
pub use event::{Delivery, Event};
pub use filter::{Filter, Offset};
pub use message::{Blank, Content, Parts, Properties, Sections};
pub use outcome::Outcome;
pub use scalar::Scalar;
