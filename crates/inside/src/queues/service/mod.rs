//! Queues over HTTP, for applications that poll; the connection to the node stays open.
//!
//! ```text
//!  clients ══► server (`rabbitscope-http`) ──► answers (its workers) ──► shared reader (one thread) ══► node
//! ```
//!
//! The next reading answers all requests that arrive during a reading, so that more clients cause no more work on the
//! node.

mod answers;
mod server;
mod shared_reader;

pub use server::serve;
