//! Loads of other processes: what each tells of its part of a run, as bytes, and how the parts are joined.
//!
//! Each process runs the load with the part of the plan that is its own ([`crate::Share`]). The interval reports of its
//! threads become one update a second ([`Collector`]); whoever joins them ([`Merger`]) gives them to the same
//! aggregator that has those of local threads. How updates travel is none of this crate's business.

mod bounds;
mod collector;
mod extent;
mod merger;
mod part;
mod service_order;
#[cfg(test)]
mod tests;
mod update;
mod workers;

pub(crate) use collector::Collector;
pub(crate) use merger::Merger;
pub use part::{PartHost, PartSize, PartStart, PartWishes};
pub use update::UpdateError;
#[cfg(test)]
pub(crate) use update::{PartState, WorkerUpdate};
pub use workers::{RemoteEvent, RemoteStart, RemoteWorkers, RunAge};
