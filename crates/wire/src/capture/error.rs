//! What can be wrong with a capture file.

use std::io;

use super::link::SUPPORTED;

/// Why no further packet can be read. Packets that were read before stay valid.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The input failed.
    #[error("reading the capture failed at byte {offset}, after {packets} packets: {source}")]
    Read {
        /// Bytes that were read before.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
        /// What the input says.
        source: io::Error,
    },
    /// Not a capture file.
    #[error(
        "this is no capture file: it begins with the bytes {}; pcap and pcapng are read, as tcpdump -w and dumpcap write \
         them",
        hexadecimal(first)
    )]
    Foreign {
        /// The first bytes of the file, at most four.
        first: Vec<u8>,
    },
    /// A capture file in a compressed file.
    #[error("this file is compressed ({0}): decompress it first")]
    Compressed(&'static str),
    /// The file ends within a packet or a header, as it does when the program that wrote it was killed.
    #[error(
        "the capture ends at byte {end}, within what begins at byte {offset}; the {packets} packets before it were read"
    )]
    CutShort {
        /// Where the record or block begins that is not complete.
        offset: u64,
        /// Length of the file.
        end: u64,
        /// Packets that were read before.
        packets: u64,
    },
    /// The file is damaged.
    #[error("the capture is damaged at byte {offset}, after {packets} packets: {problem}")]
    Broken {
        /// Where the record or block begins that is wrong.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Packets of a kind that is not decoded.
    #[error(
        "link type {number} is not supported, at byte {offset}, after {packets} packets; supported are {SUPPORTED}"
    )]
    LinkType {
        /// Its number, as of <https://www.tcpdump.org/linktypes.html>.
        number: u32,
        /// Where the header or block is that needs it.
        offset: u64,
        /// Packets that were read before.
        packets: u64,
    },
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}
