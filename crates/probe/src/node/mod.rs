//! The observed node as a process of the operating system: which nodes there are ([`find`]); the proof that a
//! process is a VM ([`image`]); where it comes from ([`origin`]); which nodes come and go ([`scan`]); its memory, mappings, threads and pid namespace ([`process`]); and the sockets
//! of this machine: which node listens ([`listener`]), who holds a socket ([`sockets`]) or the other end of a
//! connection ([`connections`]).

mod command_line;
mod connections;
mod find;
mod image;
mod listener;
mod memory;
mod origin;
mod process;
mod scan;
mod sockets;

pub use connections::{SocketHolder, holder_of};
pub use find::{Node, default_node, find_node, list_nodes};
pub(crate) use image::contents;
pub use listener::{is_local_address, listening_ports, local_node_at};
pub use origin::{NodeOrigin, origin_of};
pub(crate) use process::{MAX_VDSO_BYTES, Mapping, Process, ReadMemory, has_initial_pids};
pub use scan::NodeScan;
pub use sockets::{holds_socket, sockets_of};
