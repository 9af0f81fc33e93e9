//! The queue of one exporter: requests that wait, in memory or in a directory. Bounded; the oldest give way.

mod directory;
mod queue;

pub(crate) use directory::{SpoolDirectory, lock_directory};
pub(crate) use queue::{Next, Spool};
