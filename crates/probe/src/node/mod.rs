//! The observed node as a process of the operating system:
//!
//! * [`find`]: the nodes of this machine;
//! * [`scan`]: nodes that start and end;
//! * [`image`]: the proof that a process is a VM;
//! * [`origin`]: the node's name, version and container;
//! * [`host`], [`data_directory`]: the machine of the node, and the place of its data;
//! * [`process`]: memory, mappings, threads and pid namespace;
//! * [`listener`], [`sockets`]: the node that listens on an address or holds a socket.

mod data_directory;
mod find;
mod host;
mod image;
mod listener;
mod memory;
mod origin;
mod process;
mod scan;
mod sockets;

pub use find::{Node, default_node, find_node, list_nodes};
pub use host::NodeHost;
pub(crate) use image::contents;
pub use listener::{connecting_ports, listening_ports, local_node_at};
pub use origin::{NodeOrigin, origin_of};
pub(crate) use process::{MAX_VDSO_BYTES, Process, ReadMemory, has_initial_pids};
pub(crate) use rabbitscope_machine::process::Mapping;
pub use scan::NodeScan;
pub use sockets::{holds_socket, sockets_of};
