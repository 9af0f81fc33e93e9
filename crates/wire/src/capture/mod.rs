//! Packets from and to capture files.
//!
//! ```text
//! format      the format according to the first four bytes
//! input       bytes of an `impl Read`, with their offset in the file, in a buffer of bounded size
//! link        numbers of link types
//! interface   properties of an interface in a pcapng file: link type, clock, losses
//! options     options of a pcapng block
//! pcap        records of the older format
//! pcapng      blocks of the newer format
//! reader      both as one sequence of packets
//! writer      packets as pcapng
//! ```
//!
//! Files are hostile. Each length is compared with a bound before it is used, and the file may end anywhere. Packets
//! that were read before an error stay valid. Headers inside packets are read in `decode`.
//!
//! The crate `pcap-parser` is not used. Its version 0.17 rejects clocks whose resolution is a power of two. It also
//! takes clock offsets and counters of big-endian files for little-endian, and lends its buffer so that `next` cannot
//! return a packet without a copy.

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
