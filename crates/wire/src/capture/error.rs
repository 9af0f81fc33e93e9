//! Errors of capture files.

use std::io;

use super::link::SUPPORTED;

/// The reason why no further packet can be read. Packets that were read before stay valid.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The input failed.
    #[error("reading the capture failed at byte {offset}, after {packets} packets: {source}")]
    Read {
        /// Bytes that were read before.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
        /// The error of the input.
        source: io::Error,
    },
    /// Not a capture file.
    #[error(
        "this is not a capture file: it begins with the bytes {}; supported are pcap and pcapng, as tcpdump -w and \
         dumpcap write them",
        hexadecimal(first)
    )]
    Foreign {
        /// The first bytes of the file, at most four.
        first: Vec<u8>,
    },
    /// A capture file in a compressed file.
    #[error("this file is compressed ({0}): decompress it first")]
    Compressed(&'static str),
    /// The file ends within a packet or a header, as it does after its writer was killed.
    #[error(
        "the capture ends at byte {end}, within the block from byte {offset}; the {packets} packets before it were \
         read"
    )]
    CutShort {
        /// Offset of the incomplete record or block.
        offset: u64,
        /// Length of the file.
        end: u64,
        /// Packets that were read before.
        packets: u64,
    },
    /// The file is damaged.
    #[error("the capture is damaged at byte {offset}, after {packets} packets: {problem}")]
    Broken {
        /// Offset of the faulty record or block.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
        /// The fault.
        problem: &'static str,
    },
    /// Packets of a link type that is not decoded.
    #[error(
        "link type {number} is not supported, at byte {offset}, after {packets} packets; supported are {SUPPORTED}"
    )]
    LinkType {
        /// Its number, as in <https://www.tcpdump.org/linktypes.html>.
        number: u32,
        /// Offset of the header or block with this link type.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
    },
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}
