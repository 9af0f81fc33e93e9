//! The HTTP server of all commands that listen.
//!
//! ```text
//!                    ┌ connections: heads read, responses written, deadlines ┐
//!  clients ══► loop ─┤  (one thread, never blocked by a socket)              ├─ request ──► workers ─► handler
//!                    └──────────────────────────────────── response ◄────────┘
//! ```
//!
//! [`Listener::bind`] binds an address and sets which clients have access. [`Server::start`] passes each [`Request`]
//! to a handler and sends its [`Response`], until the server is dropped. A request without access, a method other
//! than GET and HEAD, and a malformed request never reach the handler.
//!
//! No client can delay others:
//! - Each phase of a connection has a deadline ([`Limits`]).
//! - The number of connections and the bytes that they hold are bounded.
//! - A full server closes the oldest connection without a request.
//! - The end of the server waits for no client.
//!
//! The crates for HTTP do not fit. Blocking servers (`tiny_http`, `rouille`, `oxhttp`) have a time limit for each read and
//! write, or none. Asynchronous ones need a runtime and leave limits of connections to their users.
//!
//! The content of responses is elsewhere. There are no request bodies, no TLS and no compression.

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
