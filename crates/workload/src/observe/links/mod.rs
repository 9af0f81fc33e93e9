//! Publishers and readers by AMQP 1.0 and by the stream protocol. Each has a channel of its own.
//!
//! ```text
//! address     addresses of AMQP 1.0 ─► queues and exchanges
//! link        a publisher or a reader while it is observed
//! settings    settings that only publishers and readers of streams have
//! counts      everything that a scenario does not express
//! completion  facts of the node about those that began before the capture
//! ```

mod address;
mod completion;
mod counts;
mod link;
mod settings;

pub(super) use address::Address;
pub(crate) use counts::Counts;
pub(super) use link::Link;
pub(crate) use settings::{StreamPublisher, StreamReader};
