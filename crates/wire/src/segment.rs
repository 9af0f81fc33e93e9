//! A TCP segment, from one packet.

use core::net::SocketAddr;

use crate::packet::Timestamp;

/// Flags of a TCP header, as bits of its 14th byte (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronizes sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Resets the connection.
    pub const RST: u8 = 0x04;
    /// Pushes data to the reader.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 0x10;

    /// Returns whether all of `flags` are set.
    pub const fn has(self, flags: u8) -> bool {
        self.0 & flags == flags
    }
}

/// Options of a TCP header that the analysis uses (RFC 9293; scale and times: RFC 7323; blocks: RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Largest payload that the sender accepts, in bytes; only in a SYN.
    pub max_segment_size: Option<u16>,
    /// Number of bits by which the sender's windows are shifted; only in a SYN.
    pub window_scale: Option<u8>,
    /// Blocks that the sender has received beyond its acknowledgement, as sequence numbers of the first byte and of the
    /// byte after the last.
    pub selective_acknowledgements: [Option<(u32, u32)>; 4],
    /// The sender's timestamp, and the one that it echoes.
    pub timestamps: Option<(u32, u32)>,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Number of its packet in the capture, from 1.
    pub packet: u64,
    /// Capture time of its packet.
    pub time: Timestamp,
    /// Length of its packet on the wire, in bytes, with all headers.
    pub packet_length: u32,
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// Sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The next byte that the sender expects; valid if [`TcpFlags::ACK`] is set.
    pub acknowledgement: u32,
    /// Flags of the header.
    pub flags: TcpFlags,
    /// The window as in the header, not scaled.
    pub window: u16,
    /// Options of the header.
    pub options: TcpOptions,
    /// Bytes of payload on the wire.
    pub payload_length: u32,
    /// Captured payload: all of it, or its beginning.
    pub payload: &'a [u8],
}
