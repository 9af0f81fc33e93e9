//! The kernel's figures of TCP connections: queues, windows, limits of the sender, retransmissions (socket
//! diagnosis, `sock_diag(7)`). Every user may request all sockets of a network.
//!
//! [`request`] and [`message`] are the formats, [`tcp_info`] the figures of a connection, [`socket`] the
//! description of a socket. [`dump`] requests them from the kernel; [`changes`] and [`sampler`] compare two dumps.
//!
//! The crate `netlink-packet-sock-diag` does not pay for this format: it has no filter on ports, leaves the kernel's
//! figures as bytes, and takes five times as long for each socket because it allocates each attribute.

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
