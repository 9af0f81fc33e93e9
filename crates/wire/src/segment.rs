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
    /// The connection is reset.
    pub const RST: u8 = 0x04;
    /// Data is pushed to the reader.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 0x10;

    /// Whether all of `flags` are set.
    pub const fn has(self, flags: u8) -> bool {
        self.0 & flags == flags
    }
}

/// Options of a TCP header that the analysis uses (RFC 9293; scale and times: RFC 7323; blocks: RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// The largest payload that the sender takes, in bytes; only in a SYN.
    pub max_segment_size: Option<u16>,
    /// By how many bits the sender's windows are shifted; only in a SYN.
    pub window_scale: Option<u8>,
    /// Blocks that the sender has beyond its acknowledgement, as sequence numbers: first, and first after.
    pub selective_acknowledgements: [Option<(u32, u32)>; 4],
    /// The sender's time stamp, and the one that it echoes.
    pub timestamps: Option<(u32, u32)>,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Number of its packet in the capture, from 1.
    pub packet: u64,
    /// When its packet was captured.
    pub time: Timestamp,
    /// Length of its packet on the wire, in bytes, with all headers.
    pub packet_length: u32,
    /// Who sent it.
    pub from: SocketAddr,
    /// Who it is for.
    pub to: SocketAddr,
    /// Sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The next byte that the sender expects, where [`TcpFlags::ACK`] is set.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// The window as it stands in the header, not scaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Bytes of payload on the wire.
    pub payload_length: u32,
    /// What was captured of the payload: all of it, or its beginning.
    pub payload: &'a [u8],
}
