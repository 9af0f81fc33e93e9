//! Groups of clients that behave alike.
//!
//! ```text
//! names       parts of names that are numbers; sets of names
//! sets        queues that differ by name only
//! uses        objects that the flows use, and all that these need
//! split       splits clients by a figure, at wide gaps
//! loops       open or closed loop, arrivals, windows
//! phases      timers that take turns
//! scaling     other rates, fewer connections
//! sizes       sizes of messages: exact frequent ones, and ranges
//! publishers  flows of publishes ─► groups
//! readers     flows of deliveries ─► groups
//! subscribers flows of deliveries by MQTT ─► groups
//! hosts       groups on the connections of others
//! relays      consumers that publish a message before they settle one
//! missing     everything that was observed and is not in the model
//! model       all of them
//! ```

mod hosts;
mod loops;
mod missing;
mod model;
mod names;
mod phases;
mod publishers;
mod readers;
mod relays;
mod scaling;
mod sets;
mod sizes;
mod split;
mod subscribers;
mod uses;

pub(crate) use loops::{Arrival, Loop, Window, is_alternating, is_paced, most};
pub(crate) use model::UsedExchange;
pub use model::{Model, model};
pub(crate) use names::{Names, is_identifier, pattern, uuid_at};
pub(crate) use publishers::{PublisherGroup, Target};
pub(crate) use readers::{ReaderGroup, Settling, Source};
pub use scaling::Scale;
pub(crate) use scaling::is_changed;
pub(crate) use sets::QueueSet;
pub(crate) use sizes::Sizes;
