//! Live sources for the traffic between a broker and its peers, on three levels:
//!
//! 0. [`sockets`]: the TCP figures of each connection, by the kernel's socket diagnosis. Needs no privilege.
//! 1. [`ring`]: the packets themselves, through a ring shared with the kernel. Needs `CAP_NET_RAW`.
//! 2. [`writes`]: sizes of a node's writes and reads, counted by an eBPF program.
//!
//! [`levels`] checks their availability, and [`namespace`] enters the network of a container. This module sends no
//! packet and changes none.
//!
//! The meaning of packets is elsewhere: the crate `rabbitscope-wire` decodes them, and the program combines both.

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
