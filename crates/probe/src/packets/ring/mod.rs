//! Packets of some TCP ports, through a ring of blocks shared with the kernel (`AF_PACKET`, `TPACKET_V3`).
//!
//! The files:
//!
//! * [`options`] describes a capture;
//! * [`filter`] compiles the kernel's filter;
//! * [`socket`] is the socket with its options;
//! * [`memory`] is the shared memory;
//! * [`block`] reads packets out of a block;
//! * [`capture`] puts these together.
//!
//! Packets of every interface begin with their IP header: for a socket of type `SOCK_DGRAM` the kernel removes link
//! headers. So one filter fits every kind of interface, hardware addresses are not captured, and all interfaces can
//! be captured at once.

mod block;
mod capture;
mod filter;
mod memory;
mod options;
mod socket;

pub use block::{Direction, Packets, RingPacket};
pub use capture::{Block, PacketRing};
pub use options::{CaptureInterface, RingOptions};
pub use socket::RingStatistics;
pub(super) use socket::may_capture;
