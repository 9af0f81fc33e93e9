//! TCP listeners of a network, from the kernel's answer or from its tables.

use super::{
    diagnosis,
    table::{TcpSocket, listeners_in_tables},
};
use crate::namespaces::Namespace;

/// Returns all TCP listeners of the calling thread's network, which may differ from that of the process (`setns(2)`).
pub fn listeners() -> Vec<TcpSocket> {
    diagnosis::listeners().unwrap_or_else(|_| listeners_in_tables("thread-self"))
}

/// Returns all TCP listeners of a process's network, those of other processes too. Empty if the network is another one
/// and its tables are unreadable.
pub fn listeners_beside(pid: u32) -> Vec<TcpSocket> {
    match (Namespace::of_process(pid, "net"), Namespace::own("net")) {
        (Ok(network), Ok(own)) if network == own => listeners(),
        _ => listeners_in_tables(pid),
    }
}
