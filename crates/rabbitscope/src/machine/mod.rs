//! This machine: what it is, what the processes on it use, who listens where.

mod facts;
mod listener;
mod process;

pub use facts::machine_facts;
pub use listener::local_node_at;
pub use process::{ProcessIdentity, TreeUsage, UsageMeter};
