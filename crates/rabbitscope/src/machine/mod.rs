//! This machine: what it is, what the processes on it use.

mod facts;
mod origin;
mod process;

pub use facts::machine_facts;
pub use origin::{Liveness, ProcessOrigin};
pub use process::{ProcessIdentity, ProcessUsage, Sight, TreeUsage, UsageMeter};
