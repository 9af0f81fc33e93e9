//! Where a packet is that a format's reader has found.

use std::io;

use super::error::CaptureError;
use crate::packet::{LinkType, Timestamp};

/// Most bytes of one packet that are read: Wireshark's and libpcap's limit.
pub const MAX_CAPTURED_BYTES: u32 = 262_144;

/// A packet in the buffer of an input, just used up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) time: Timestamp,
    pub(super) link: LinkType,
    /// On which interface it was captured, where the file says.
    pub(super) interface: Option<u32>,
    /// Length on the wire.
    pub(super) length: u32,
    /// Bytes that were captured of it.
    pub(super) captured: usize,
    /// Bytes that were used up after the packet's data.
    pub(super) behind: usize,
}

/// What stops a reader. The offset and the count of packets are added where they are known.
#[derive(Debug)]
pub(super) enum Fault {
    Read(io::Error),
    CutShort,
    Broken(&'static str),
    LinkType(u32),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl Fault {
    /// The error for what begins at `offset`, when `end` bytes were read and `packets` found before.
    pub(super) fn at(self, offset: u64, end: u64, packets: u64) -> CaptureError {
        match self {
            Self::Read(source) => CaptureError::Read { offset: end, packets, source },
            Self::CutShort => CaptureError::CutShort { offset, end, packets },
            Self::Broken(problem) => CaptureError::Broken { offset, packets, problem },
            Self::LinkType(number) => CaptureError::LinkType { number, offset, packets },
        }
    }
}
