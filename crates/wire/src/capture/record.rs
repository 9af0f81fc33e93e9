//! The position of a packet in the buffer, from the reader of a format.

use std::io;

use super::error::CaptureError;
use crate::packet::{LinkType, Timestamp};

/// Maximum of bytes of one packet that are read: Wireshark's and libpcap's limit.
pub const MAX_CAPTURED_BYTES: u32 = 262_144;

/// A packet in the buffer of an input, just consumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) time: Timestamp,
    pub(super) link: LinkType,
    /// The interface that captured it, if the file states it.
    pub(super) interface: Option<u32>,
    /// Length on the wire.
    pub(super) length: u32,
    /// Number of captured bytes.
    pub(super) captured: usize,
    /// Number of bytes consumed after the packet's data.
    pub(super) behind: usize,
}

/// The reason why a reader stops. Its caller adds the offset and the count of packets.
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
    /// Returns the error for the record at `offset`, after `end` bytes and `packets` packets were read.
    pub(super) fn at(self, offset: u64, end: u64, packets: u64) -> CaptureError {
        match self {
            Self::Read(source) => CaptureError::Read { offset: end, packets, source },
            Self::CutShort => CaptureError::CutShort { offset, end, packets },
            Self::Broken(problem) => CaptureError::Broken { offset, packets, problem },
            Self::LinkType(number) => CaptureError::LinkType { number, offset, packets },
        }
    }
}
