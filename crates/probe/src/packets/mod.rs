//! Live sources for what goes over the wire between a broker and its peers, on three levels:
//!
//! 0. [`sockets`]: what the kernel's TCP knows of each connection, by socket diagnosis. Needs no privilege.
//! 1. [`ring`]: the packets themselves, through a ring that is shared with the kernel. Needs `CAP_NET_RAW`.
//! 2. [`writes`]: sizes of a node's writes and reads, counted by an eBPF program.
//!
//! [`levels`] says which of them can be had here, and [`namespace`] enters the network of a container. Nothing here
//! sends a packet or changes one.
//!
//! What does not live here: what the packets mean. The crate `rabbitscope-wire` reads them, and the program
//! combines both.

mod error;
mod levels;
mod namespace;
mod ports;
mod ring;
mod sockets;
mod writes;

pub use error::PacketError;
pub use levels::explain_packets;
pub use namespace::NetworkNamespace;
pub use ports::{MAX_PORTS, PortSet};
pub use ring::{
    Block, CaptureInterface, Direction, PacketRing, Packets, RingOptions, RingPacket,
    RingStatistics,
};
pub use sockets::{
    SocketChange, SocketMemory, SocketSampler, SocketSamples, SocketTotals, TcpInfo, TcpProgress,
    TcpSocket, TcpState, dump_sockets,
};
pub use writes::{SizeBucket, WriteCounter, WriteCounts, WriteDirection};
