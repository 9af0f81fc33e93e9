//! What the kernel knows of TCP connections: queues, windows, limits of the sender, retransmissions (socket diagnosis,
//! `sock_diag(7)`). Every user may ask for all sockets of a network.
//!
//! [`request`] and [`message`] are the formats, [`tcp_info`] the kernel's figures of a connection, [`socket`] what is
//! known of a socket, [`dump`] asks the kernel, and [`changes`] and [`sampler`] say what changed between two dumps.
//!
//! A crate for the format exists (`netlink-packet-sock-diag`). It is not used: it has no filter on ports, so that each
//! sample would bring every socket of the machine, and it knows one length of the kernel's figures, which grow from
//! release to release.

mod changes;
mod dump;
mod message;
mod request;
mod sampler;
mod socket;
mod tcp_info;
mod totals;

pub use changes::{SocketChange, TcpProgress};
pub use dump::dump_sockets;
pub use sampler::{SocketSampler, SocketSamples};
pub use socket::{SocketMemory, TcpSocket, TcpState};
pub use tcp_info::TcpInfo;
pub use totals::SocketTotals;
