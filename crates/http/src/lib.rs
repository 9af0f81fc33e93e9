//! The HTTP server of all commands that listen.
//!
//! ```text
//!                    ┌ hyper on each connection, phases with deadlines ┐
//!  clients ══► loop ─┤  (one thread, never blocked by a socket)        ├─ request ──► workers ─► handler
//!                    └────────────────────────────── response ◄────────┘
//!                                        events ◄──── Broadcast ◄──── any thread
//! ```
//!
//! [`Listener::bind`] binds an address and sets which clients have access. [`Server::start`] passes each [`Request`]
//! to a handler and sends its [`Response`], until the server is dropped. A request without access, a method other
//! than GET and HEAD, and a malformed request never reach the handler. [`Response::events`] connects a client to a
//! [`Broadcast`].
//!
//! hyper parses heads and writes responses. It limits neither the number of connections nor their time, so that is
//! here. No client can delay others:
//! - Each phase of a connection has a deadline ([`Limits`]).
//! - The number of connections and the bytes that they hold are bounded.
//! - A full server closes the oldest connection without a request.
//! - A viewer that does not read its events is let go.
//! - The end of the server waits for no client.
//!
//! The content of responses is elsewhere. There are no request bodies, no TLS and no compression.

mod access;
mod authorization;
mod connection;
mod error;
mod events;
mod host;
mod limits;
mod listener;
mod path_token;
mod request;
mod response;
mod server;
mod service;
#[cfg(test)]
mod tests;

pub use error::ListenError;
pub use events::Broadcast;
pub use host::Host;
pub use hyper::body::Bytes;
pub use limits::Limits;
pub use listener::{ListenOptions, Listener, parse_address};
pub use request::Request;
pub use response::{Response, Status};
pub use server::Server;
