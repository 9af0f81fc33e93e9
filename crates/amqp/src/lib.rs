//! AMQP 0-9-1, made for speed: a codec and a connection that do no input or output themselves.
//!
//! The caller owns the socket and the clock. It reads what there is into an [`InputBuffer`], asks
//! the [`Connection`] for [`Event`]s until there are no more, lets it encode what is to be sent into
//! one output buffer, and writes that once. The same core drives thousands of non-blocking sockets
//! (crate `load`) and one blocking socket ([`blocking::Client`], for topology and tests).
//!
//! What deliberately is not here: threads, event loops, retries, TLS, anything about load.
//!
//! The protocol's numbers and layouts are from the AMQP 0-9-1 specification and from RabbitMQ's
//! extensions to it (`basic.nack`, `confirm.select`, `connection.blocked`, `exchange.bind`).

mod uri;

pub use uri::{Uri, UriError};
