//! The one HTTP server of rabbitscope: everything that listens is served by it.
//!
//! ```text
//!                    ┌ connections: heads read, responses written, deadlines ┐
//!  clients ══► loop ─┤  (one thread, never blocked by a socket)              ├─ request ──► workers ─► handler
//!                    └──────────────────────────────────── response ◄────────┘
//! ```
//!
//! [`Listener::bind`] binds an address and sets which clients have access; [`Server::start`] passes each
//! [`Request`] to a handler function and sends its [`Response`], until it is dropped. A request without access, a
//! method other than GET and HEAD, and a malformed request never reach the handler.
//!
//! No client can delay others: each phase of a connection has a deadline ([`Limits`]), the number of connections and
//! the bytes that they hold are bounded, a full server closes the oldest connection without a request, and the end
//! of the server waits for no client.
//!
//! It is written here because the blocking servers among the crates (`tiny_http`, `rouille`, `oxhttp`)
//! have time limits for each read and write or none, and the asynchronous ones bring a runtime along
//! and leave limits of connections to their users.
//!
//! What does not live here: the content of responses. There are no bodies of requests, no TLS, no compression.

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
pub use listener::{ListenOptions, Listener, parse_address};
pub use request::Request;
pub use response::{Response, Status};
pub use server::Server;
