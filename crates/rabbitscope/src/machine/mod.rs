//! This machine: what it is, what the processes on it use.

mod facts;

pub use facts::machine_facts;
pub use rabbitscope_machine::{
    Liveness, ProcessIdentity, ProcessOrigin, ProcessUsage, Sight, TreeUsage, UsageMeter,
};
