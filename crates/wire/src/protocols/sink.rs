//! Where a dissector sends what it finds.

use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::frame::Frame;
use crate::{packet::Timestamp, report::Side};

/// Takes what dissectors find, in the order in which it could be read.
pub trait FrameSink {
    /// A frame is complete.
    fn frame(&mut self, frame: &Frame<'_>);

    /// A range of bytes should not be written to a file. It is told before any byte of the range is passed: when
    /// [`super::Dissector::chunk`] returns, all ranges that touch the chunk were told.
    fn sensitive(&mut self, sensitive: &Sensitive) {
        let _ = sensitive;
    }

    /// From here on frames cannot be read.
    fn lost(&mut self, loss: &Loss) {
        let _ = loss;
    }

    /// Frames can be read again. They follow.
    fn found(&mut self, skipped: &Skipped) {
        let _ = skipped;
    }
}

/// Why bytes should not be written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensitiveKind {
    /// Passwords, tokens, answers to challenges, and what clients say of themselves.
    Credentials,
    /// What applications send: bodies, values of headers and of properties.
    Body,
    /// Bytes that were not understood, which may hold either.
    Unrecognized,
}

/// Bytes that should not be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// Who sent them.
    pub sender: Side,
    /// Where they stand in the direction, as [`crate::stream::Chunk::offset`]. The range may end beyond what has come.
    pub range: Range<u64>,
    /// What they are.
    pub kind: SensitiveKind,
}

/// The place from which frames cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Who sent the bytes.
    pub sender: Side,
    /// Place in the direction.
    pub offset: u64,
    /// When it was found out.
    pub time: Timestamp,
}

/// Bytes in which no frames were found, and gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Who sent them.
    pub sender: Side,
    /// Where they stand in the direction.
    pub range: Range<u64>,
    /// When it was found out.
    pub time: Timestamp,
}
