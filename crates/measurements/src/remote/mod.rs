//! Loads of other processes: the updates of each process about its part of a run, and the merging of the parts.
//!
//! Each process runs its own part of the plan (`Share` in `load`). The interval reports of its threads become one update
//! per second ([`Collector`]). The merging process passes them ([`Merger`]) to the same aggregator that serves local
//! threads. This crate does not define how updates travel.

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

pub use collector::Collector;
pub use merger::{LostThreads, Merger};
pub use part::{PartHost, PartSize, PartStart, PartWishes};
pub use update::{PartState, UpdateError, WorkerUpdate};
pub use workers::{RemoteEvent, RemoteStart, RemoteWorkers, RunAge};
