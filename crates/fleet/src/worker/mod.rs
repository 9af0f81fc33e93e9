//! A worker: it waits for a part of a run, generates its load and sends its measurements.
//!
//! One thread serves the bus and never waits for anything else. Another connects to the broker under test and joins
//! the reports of the load threads. A mailbox connects both.

mod confinement;
mod host;
mod load;
mod mailbox;
mod options;
mod outbox;
mod serve;

pub use options::{OwnBroker, WorkerOptions, WorkerSummary};
pub use serve::serve;
