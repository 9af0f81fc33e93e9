//! Bytes of one direction of a connection, in order.
//!
//! Reassembly makes chunks; the dissectors read frames from them.

use crate::packet::Timestamp;

/// Bytes of a direction, in order. They become readable when their packet arrives, or a later packet that fills the
/// hole before them.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Offset of the first byte in the direction. Offset 0 is the first byte that was seen. Bytes of gaps count as
    /// well.
    pub offset: u64,
    /// Time at which the bytes could be read in order: the time of their packet, or of the later one that filled the
    /// hole.
    pub time: Timestamp,
    /// Number of the packet that brought the bytes, from 1.
    pub packet: u64,
    /// Offset of the first byte of that packet's payload, as `offset`. A frame that begins there begins a segment.
    pub segment_start: u64,
    /// Offset after the last byte of that packet's payload.
    pub segment_end: u64,
}

/// Bytes of a direction that never arrived or were not captured. The bytes after them need not begin with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Offset of the first missing byte, as [`Chunk::offset`].
    pub offset: u64,
    /// Number of missing bytes.
    pub length: u64,
    /// Time at which reassembly stopped waiting for the bytes.
    pub time: Timestamp,
}
