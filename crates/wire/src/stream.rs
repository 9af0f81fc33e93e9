//! Bytes of one direction of a connection, in order.
//!
//! Between reassembly, which makes chunks, and the dissectors, which read frames from them.

use crate::packet::Timestamp;

/// Bytes of a direction, in order: those of a segment that could be read when its packet, or one that filled a hole
/// before it, had arrived.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Place of the first of them in the direction, counted from the first byte that was seen (0). Bytes of gaps
    /// count as well.
    pub offset: u64,
    /// When the bytes could be read in order: the time of their packet, or of the later one that filled the hole.
    pub time: Timestamp,
    /// Number of the packet that brought the bytes, from 1.
    pub packet: u64,
    /// Place of the first byte of that packet's payload, as `offset`. Frames that begin there begin a segment.
    pub segment_start: u64,
    /// Place after the last byte of that packet's payload.
    pub segment_end: u64,
}

/// Bytes of a direction that never came, or were not captured. What follows need not begin with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Place of the first byte that is missing, as [`Chunk::offset`].
    pub offset: u64,
    /// How many bytes are missing.
    pub length: u64,
    /// When it was given up on.
    pub time: Timestamp,
}
