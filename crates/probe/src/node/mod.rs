//! The observed node as the operating system sees it: [`find`] its process, read its memory, its
//! mappings, its threads and its pid namespace ([`process`]), once it is proven to be one ([`image`]).

mod command_line;
mod connections;
mod find;
mod image;
mod listener;
mod memory;
mod process;
mod sockets;

pub use connections::{Holder, holder_of};
pub use find::{Node, default_node, find_node, list_nodes};
pub(crate) use image::contents;
pub use listener::{is_own, local_node_at};
pub(crate) use process::{MAX_VDSO_BYTES, Mapping, Process, ReadMemory};
pub use sockets::holds_socket;
