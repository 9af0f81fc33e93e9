//! Observes a running BEAM node from outside: without a flag, a restart or a stop of the node.
//!
//! What lives here: finding the node ([`node`]), reading the VM's tables out of its memory ([`beam`]), names
//! and unwinding of native code ([`native`]), the recorder with its two backends ([`recorder`]), and live sources
//! for what goes over the wire ([`packets`]). What depends on the machine's architecture is in [`arch`]. The eBPF programs are in `bpf/`; [`kernel_interface`] is what they
//! exchange with the recorder. What does not live here: talking to the node (it needs a cookie), reading what
//! packets mean, and drawing.

mod arch;
mod beam;
mod error;
mod explain;
#[cfg(fuzzing)]
pub mod fuzzing;
mod kernel_interface;
mod memory;
mod native;
mod node;
pub mod packets;
mod permission;
mod recorder;

pub use error::{ErrorKind, ProbeError};
pub use explain::{Fact, explain};
pub use native::{
    DebugFileError, MissingDebugFile, RecordedNames, UnnamedCode, build_id, files_without_names,
};
pub use node::{
    Node, NodeOrigin, NodeScan, default_node, find_node, holds_socket, list_nodes, listening_ports,
    local_node_at, origin_of, sockets_of,
};
pub use permission::{drop_privileges, give_up_capturing, lower_privileges};
pub use recorder::{
    Backend, BackendChoice, ContinuousOptions, ContinuousRecorder, CpuOptions, NodeWindow, Options,
    Progress, Recorded, choose_backend, record, record_cpu,
};
