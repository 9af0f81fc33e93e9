//! This machine: what it is, what the processes on it use, who listens where.

mod facts;
mod listener;
mod origin;
mod process;
mod sockets;

pub use facts::machine_facts;
pub(crate) use listener::is_own;
pub use listener::local_node_at;
pub use origin::{Liveness, ProcessOrigin};
pub use process::{ProcessIdentity, TreeUsage, UsageMeter};
pub(crate) use sockets::{Holder, holder_of};
