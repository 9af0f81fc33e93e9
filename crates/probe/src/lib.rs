//! Looks at a running BEAM node from outside: no flag, no restart, no stop of the process.
//!
//! What lives here: finding the node ([`node`]), reading the VM's own tables out of its memory
//! ([`beam`]), names of native code ([`native`]), and the CPU sampler ([`cpu`]). What deliberately
//! does not: anything that talks to the node (that needs a cookie and is the business of another
//! crate) and anything that draws.

mod beam;
mod cpu;
mod error;
mod explain;
#[cfg(fuzzing)]
pub mod fuzzing;
mod native;
mod node;
mod permission;
mod tier;

pub use cpu::{CpuOptions, Options, Progress, record, record_cpu};
pub use error::{ErrorKind, ProbeError};
pub use explain::{Fact, explain};
pub use native::RecordedNames;
pub use node::{
    Holder, Node, default_node, find_node, holder_of, holds_socket, is_own, list_nodes,
    local_node_at,
};
pub use permission::{drop_privileges, lower_privileges};
pub use tier::{Choice, Tier, choose_tier};
