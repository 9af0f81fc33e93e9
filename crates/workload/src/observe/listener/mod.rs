//! Events of an analysis ─► flows.
//!
//! ```text
//! observer  the listener of an analysis
//! step      an event of a connection of AMQP 0-9-1
//! ```

mod observer;
mod step;

pub use observer::Observer;
