//! This machine: its properties, and the resources that its processes use.

mod facts;

pub use facts::machine_facts;
pub use rabbitscope_machine::{
    Liveness, ProcessIdentity, ProcessOrigin, ProcessUsage, Sight, TreeUsage, UsageMeter,
};
