//! Queues over HTTP, for applications that poll: a connection to the node that stays, and a small
//! server.
//!
//! ```text
//!  clients ══► server (a thread for each connection) ──► reader (one thread) ══► node
//! ```
//!
//! Requests that wait while the node is read are all answered by the next reading, so that more
//! clients do not mean more work for the node.

mod guard;
mod http;
mod readings;
mod server;

pub(crate) use guard::Guard;
pub(crate) use server::Service;
