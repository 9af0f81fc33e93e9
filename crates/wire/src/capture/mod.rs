//! Packets from and to capture files.
//!
//! ```text
//! format      which format the first four bytes announce
//! input       bytes of an `impl Read`, with their place in the file, in a buffer of bounded size
//! link        numbers of link types
//! interface   what a pcapng file says of an interface: link type, clock, losses
//! options     options of a pcapng block
//! pcap        records of the older format
//! pcapng      blocks of the newer format
//! reader      both as one sequence of packets
//! writer      packets as pcapng
//! ```
//!
//! Files are hostile: no length is believed before it was compared with a bound, and the file may end anywhere. What was
//! read before an error stays valid. Headers inside of packets are no matter of this folder; they are read in `decode`.
//!
//! The formats are read here, without the crate `pcap-parser`: its version 0.17 refuses clocks with a resolution of a
//! power of two, takes clock offsets and counters of big-endian files for little-endian, and lends its buffer in a way
//! that a `next` cannot hand on without a copy.

mod error;
mod format;
mod input;
mod interface;
mod link;
mod options;
mod pcap;
mod pcapng;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub use error::CaptureError;
pub use format::{ByteOrder, Format};
pub use reader::PacketReader;
pub use record::MAX_CAPTURED_BYTES;
pub use writer::{InterfaceId, PacketWriter};
