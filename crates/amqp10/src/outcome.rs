//! Outcomes of messages.

use crate::protocol::codes::{ACCEPTED, MODIFIED, REJECTED, RELEASED};

/// The fate of a message at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was processed.
    Accepted,
    /// It is invalid. A queue gives it to its dead letter exchange.
    Rejected,
    /// It was not processed, and others may have it. A broker says this of messages that no queue gets.
    Released,
    /// As released, and the delivery counts as failed.
    Modified,
}

impl Outcome {
    /// Returns the outcome with this code.
    #[inline]
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        Some(match u8::try_from(code).ok()? {
            ACCEPTED => Self::Accepted,
            REJECTED => Self::Rejected,
            RELEASED => Self::Released,
            MODIFIED => Self::Modified,
            _ => return None,
        })
    }

    /// Returns the encoded outcome.
    #[inline]
    pub(crate) fn encoded(self) -> &'static [u8] {
        match self {
            Self::Accepted => b"\x00\x53\x24\x45",
            Self::Rejected => b"\x00\x53\x25\x45",
            Self::Released => b"\x00\x53\x26\x45",
            // `delivery-failed`
            Self::Modified => b"\x00\x53\x27\xc0\x02\x01\x41",
        }
    }
}
