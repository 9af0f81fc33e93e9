//! Receivers of a dissector's results.

use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::frame::Frame;
use crate::{packet::Timestamp, report::Side};

/// Receives the results of dissectors, in the order in which they could be read.
pub trait FrameSink {
    /// Reports a complete frame.
    fn frame(&mut self, frame: &Frame<'_>);

    /// Reports a range of bytes that should not be written to a file. The call comes before any byte of the range is
    /// passed. When [`super::Dissector::chunk`] returns, all ranges that touch the chunk have been reported.
    fn sensitive(&mut self, sensitive: &Sensitive) {
        let _ = sensitive;
    }

    /// Reports that frames cannot be read from here on.
    fn lost(&mut self, loss: &Loss) {
        let _ = loss;
    }

    /// Reports that frames can be read again. They follow.
    fn found(&mut self, skipped: &Skipped) {
        let _ = skipped;
    }
}

/// The reason why bytes should not be written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitiveKind {
    /// Passwords, tokens, responses to challenges, and properties of clients.
    Credentials,
    /// Data of applications: bodies, values of headers and of properties.
    Body,
    /// Unrecognized bytes, which may contain either.
    Unrecognized,
}

/// Bytes that should not be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// The sender.
    pub sender: Side,
    /// Their offsets in the direction, as [`crate::stream::Chunk::offset`]. The range may end beyond the bytes that
    /// have arrived.
    pub range: Range<u64>,
    /// Their kind.
    pub kind: SensitiveKind,
}

/// The offset from which frames cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The sender of the bytes.
    pub sender: Side,
    /// Offset in the direction.
    pub offset: u64,
    /// Time of detection.
    pub time: Timestamp,
}

/// Bytes in which no frames were found, and gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The sender.
    pub sender: Side,
    /// Their offsets in the direction.
    pub range: Range<u64>,
    /// Time of detection.
    pub time: Timestamp,
}
