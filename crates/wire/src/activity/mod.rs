//! Activity of clients: methods and messages of AMQP 0-9-1, links of AMQP 1.0, publishers and readers of streams, and packets
//! of MQTT, with their names and settings.
//!
//! ```text
//! listener    receives the events of an analysis
//! event       an event: protocol, channel, time, action
//! action      the actions: what a client asks, sends, settles; what the broker confirms and delivers
//! method      arguments of a method ─► action
//! properties  content header ─► properties of a message
//! table       values of known arguments
//! filters     filters of a subscription
//! packets     packets of MQTT ─► events
//! links       publishers and readers of AMQP 1.0 and of streams
//! amqp10      performatives of AMQP 1.0 ─► events
//! streams     commands of streams ─► events
//! reader      frames of a connection ─► events; joins the frames of a message
//! ```
//!
//! Events hold names and settings, and sizes in place of contents: no body, no credentials, no value of a header.
//! Latencies are in `exchanges`, figures of connections in `analyzer`.

mod action;
mod amqp10;
mod event;
mod filters;
mod links;
mod listener;
mod method;
mod packets;
mod properties;
mod reader;
mod streams;
mod table;
#[cfg(test)]
mod tests;

pub use action::{
    Action, Binding, Client, Connect, Consume, Delivered, ExchangeDeclare, Get, Published, Qos,
    QueueDeclare, Returned, Settled, SettledRange, Settlement, Tune,
};
pub use event::{Ends, Event};
pub use filters::Filters;
pub use links::{Attach, Chunk, Joined, OfAmqp10, OfStream, Place, Start, StoredOffset};
pub use listener::{ActivityListener, NoListener};
pub use properties::{Content, Headers, OfMqtt, Properties};
pub(crate) use reader::ActivityReader;
pub use table::{Arguments, Value};
