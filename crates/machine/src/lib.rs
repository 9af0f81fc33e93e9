//! This machine as `/proc` shows it: TCP sockets ([`sockets`]), the usage of processes ([`UsageMeter`]), and the
//! check whether a process still runs ([`ProcessOrigin`]).
//!
//! Functions that need a capability, or the memory of a process, are in the crate `probe`.

mod origin;
mod process;
pub mod sockets;

pub use origin::{Liveness, ProcessOrigin};
pub use process::{ProcessIdentity, ProcessUsage, Sight, TreeUsage, UsageMeter};
