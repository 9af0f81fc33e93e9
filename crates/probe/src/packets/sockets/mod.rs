//! The kernel's figures of TCP connections: queues, windows, limits of the sender, retransmissions (socket
//! diagnosis, `sock_diag(7)`). Every user may request all sockets of a network.
//!
//! [`request`] and [`message`] are the formats, [`tcp_info`] the figures of a connection, [`socket`] the
//! description of a socket. [`dump`] requests them from the kernel; [`changes`] and [`sampler`] compare two dumps.
//!
//! The crate `netlink-packet-sock-diag` for this format does not fit. It has no filter on ports, so that each
//! sample would bring every socket of the machine. It knows one length of the kernel's figures, which grow from
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
