//! The observed node as the operating system sees it: [`find`] its process, read its memory, its
//! mappings, its threads and its pid namespace ([`process`]).

mod find;
mod process;

pub use find::{Node, find_node, list_nodes, sole_node};
pub(crate) use find::{first_argument, is_beam};
pub(crate) use process::{Mapping, Process, ReadMemory};
