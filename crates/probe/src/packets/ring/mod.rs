//! Packets of some TCP ports, through a ring of blocks that is shared with the kernel (`AF_PACKET`, `TPACKET_V3`).
//!
//! [`options`] says what is captured, [`filter`] makes the kernel's filter of it, [`socket`] is the socket with its
//! options, [`memory`] the shared memory, [`block`] reads packets out of a block, and [`capture`] puts these
//! together. Packets begin with their IP header, whatever the interface: the socket is one of `SOCK_DGRAM`, for
//! which the kernel takes link headers off. So one filter is right for every kind of interface, hardware addresses
//! are not captured, and all interfaces can be captured at once.

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
