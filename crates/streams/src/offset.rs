//! The place in a stream at which a reader begins.

use rabbitscope_protocol::Write as _;

/// The place in a stream at which a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// The first message that the stream has.
    First,
    /// The last chunk.
    Last,
    /// The next message.
    Next,
    /// The message with this offset.
    At(u64),
    /// The chunk of this time, in milliseconds since 1970.
    Timestamp(i64),
}

impl Offset {
    /// Reads the answer to [`Connection::ask_for_offset`](crate::Connection::ask_for_offset); `None` if it is cut off.
    pub fn from_stored(content: &[u8]) -> Option<Self> {
        let stored = u64::from_be_bytes(*content.first_chunk()?);
        Some(Self::At(stored.wrapping_add(1)))
    }

    /// Appends the type, and the value of those types that have one.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::First => out.put_u16(1),
            Self::Last => out.put_u16(2),
            Self::Next => out.put_u16(3),
            Self::At(offset) => {
                out.put_u16(4);
                out.put_u64(offset);
            }
            Self::Timestamp(millis) => {
                out.put_u16(5);
                out.extend_from_slice(&millis.to_be_bytes());
            }
        }
    }

    /// Returns whether a message is before the place. A chunk can begin before it.
    #[inline]
    pub fn is_behind(self, offset: u64) -> bool {
        matches!(self, Self::At(first) if offset < first)
    }
}
