//! A worker: it waits for a part of a run, puts its load on and tells what it measured.
//!
//! One thread talks to the bus and never waits for anything else; another makes the connections to the broker under
//! test and joins what the load threads report. Between them is a mailbox.

mod confinement;
mod host;
mod load;
mod mailbox;
mod options;
mod outbox;
mod serve;

pub use options::{OwnBroker, WorkerOptions, WorkerSummary};
pub use serve::serve;
