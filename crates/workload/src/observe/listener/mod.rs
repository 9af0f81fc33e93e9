//! Events of an analysis ─► flows.
//!
//! ```text
//! observer  the listener of an analysis
//! step      an event of a connection of AMQP 0-9-1
//! links     an event of AMQP 1.0 or of the stream protocol
//! packets   an event of a client of MQTT
//! ```

mod links;
mod observer;
mod packets;
mod step;

pub use observer::Observer;
