//! Events of an analysis ─► flows.
//!
//! ```text
//! observer  the listener of an analysis
//! step      an event of a connection of AMQP 0-9-1
//! packets   an event of a client of MQTT
//! ```

mod observer;
mod packets;
mod step;

pub use observer::Observer;
