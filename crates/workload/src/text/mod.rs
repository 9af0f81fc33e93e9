//! The scenario as TOML, with a comment on the origin of each group.
//!
//! ```text
//! whole       the file: head, objects, groups
//! head        sources, assumptions, everything that cannot be expressed
//! objects     policies, exchanges, queues
//! publishers  groups of publishers, and of callers
//! keys        their targets: queues, exchanges, routing keys, topics
//! protocols   the protocol of a group
//! streams     keys that only publishers and readers of streams have
//! content     sizes and properties of messages
//! readers     groups of consumers, of programs that poll, and of responders
//! churn       objects that come and go
//! idle        connections without messages and readers
//! lines       tables, values and comments as text
//! ```

mod churn;
mod content;
mod head;
mod idle;
mod keys;
mod lines;
mod objects;
mod protocols;
mod publishers;
mod readers;
mod streams;
mod whole;

pub use head::Origin;
pub use whole::{RunLength, scenario};
