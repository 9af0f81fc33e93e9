//! The observed node as a process of the operating system: which nodes there are ([`find`]); the proof that a
//! process is a VM ([`image`]); where it comes from ([`origin`]); which nodes come and go ([`scan`]); its memory, mappings, threads and pid namespace ([`process`]); and its
//! sockets: which node listens ([`listener`]) and which node holds a socket ([`sockets`]).

mod command_line;
mod find;
mod image;
mod listener;
mod memory;
mod origin;
mod process;
mod scan;
mod sockets;

pub use find::{Node, default_node, find_node, list_nodes};
pub(crate) use image::contents;
pub use listener::{listening_ports, local_node_at};
pub use origin::{NodeOrigin, origin_of};
pub(crate) use process::{MAX_VDSO_BYTES, Mapping, Process, ReadMemory, has_initial_pids};
pub use scan::NodeScan;
pub use sockets::{holds_socket, sockets_of};
