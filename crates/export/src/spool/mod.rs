//! The queue of one exporter: waiting requests, in memory or in a directory. Bounded; the oldest are dropped.

mod directory;
mod queue;

pub(crate) use directory::{SpoolDirectory, lock_directory};
pub(crate) use queue::{Next, Spool};
