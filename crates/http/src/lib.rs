//! The one HTTP server of rabbitscope: everything that listens is served by it.
//!
//! ```text
//!                    ┌ connections: heads read, responses written, deadlines ┐
//!  clients ══► loop ─┤  (one thread, never blocked by a socket)              ├─ request ──► workers ─► handler
//!                    └──────────────────────────────────── response ◄────────┘
//! ```
//!
//! [`Listener::bind`] takes an address and says who may ask; [`Server::start`] answers with what a
//! function makes of each [`Request`], until it is dropped. A request that is not let in, is no GET
//! or HEAD, or is malformed never gets to that function.
//!
//! No client can hold anything up: each phase of a connection has a deadline on the clock
//! ([`Limits`]), connections and the bytes that they hold are bounded, when there is no room it is
//! the oldest connection without a request that makes it, and nobody waits for a client at the end.
//!
//! It is written here because the blocking servers among the crates (`tiny_http`, `rouille`, `oxhttp`)
//! have time limits for each read and write or none, and the asynchronous ones bring a runtime along
//! and leave limits of connections to their users.
//!
//! What does not live here: what is answered. There are no bodies of requests, no TLS, no compression.

mod access;
mod authorization;
mod connection;
mod connections;
mod error;
mod host;
mod limits;
mod listener;
mod outgoing;
mod request;
mod response;
mod server;
#[cfg(test)]
mod tests;
mod workers;

pub use error::ListenError;
pub use host::Host;
pub use limits::Limits;
pub use listener::{Listener, Listening, parse_address};
pub use request::Request;
pub use response::{Response, Status};
pub use server::Server;
