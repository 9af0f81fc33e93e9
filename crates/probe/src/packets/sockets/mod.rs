//! The kernel's figures of TCP connections: queues, windows, limits of the sender, retransmissions (socket
//! diagnosis, `sock_diag(7)`). Every user may request all sockets of a network.
//!
//! The crate `machine` exchanges requests and descriptions with the kernel. [`program`] selects the connections,
//! [`attributes`] reads their figures, [`tcp_info`] those of TCP, [`socket`] is the result. [`dump`] lists connections;
//! [`changes`] and [`sampler`] compare two lists.

mod attributes;
mod changes;
mod dump;
mod program;
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
