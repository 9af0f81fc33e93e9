//! Clients whose packets cannot be read, as the node counts their messages: with TLS, or without a capture.
//!
//! ```text
//! traffic   two readings of the node's counts ─► messages of each channel between them
//! flows     messages of channels ─► flows, with all that the node knows of them
//! links     clients of AMQP 1.0 and of streams that the node knows
//! sizes     bytes, or records of TLS ─► sizes of messages
//! ```
//!
//! Counts have no times, sizes or keys of single messages. Everything that is assumed in their place is noted.

mod flows;
mod links;
mod sizes;
mod traffic;

pub use traffic::{Counted, Traffic};
