//! Observes a running BEAM node from outside: without a flag, a restart or a stop of the node.
//!
//! Modules:
//!
//! * [`node`] finds the node.
//! * [`beam`] reads the VM's tables out of its memory.
//! * [`native`] names and unwinds native code.
//! * [`recorder`] records, with two backends.
//! * [`packets`] captures packets, sockets and sizes of writes.
//! * [`arch`] has all code that depends on the machine's architecture.
//! * [`kernel_interface`] is the interface to the eBPF programs in `bpf/`.
//!
//! Talking to the node (which needs a cookie), decoding packets and drawing are the work of other crates.

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
    Node, NodeHost, NodeOrigin, NodeScan, connecting_ports, default_node, find_node, holds_socket,
    list_nodes, listening_ports, local_node_at, origin_of, sockets_of,
};
pub use permission::{drop_privileges, give_up_capturing, lower_privileges};
pub use recorder::{
    Backend, BackendChoice, ContinuousOptions, ContinuousRecorder, CpuOptions, NodeWindow, Options,
    Progress, Recorded, Windows, choose_backend, record, record_cpu, record_windows,
};
