//! Numbers in the byte order of networks, and texts with their length before them.

use thiserror::Error;

/// Bytes that do not follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the broker sent {what} that is cut off or malformed")]
pub struct Malformed {
    /// The part that could not be read.
    pub what: &'static str,
}

/// A reader of received bytes. `what` names them in errors.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Creates a reader of these bytes.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    /// Returns the error of bytes that cannot be read.
    pub fn malformed(&self) -> Malformed {
        Malformed { what: self.what }
    }

    /// Returns whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes that have not been read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Reads `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(self.malformed())?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Returns a reader of the next `count` bytes.
    #[inline]
    pub fn part(&mut self, count: usize) -> Result<Self, Malformed> {
        Ok(Self { bytes: self.take(count)?, what: self.what })
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(self.malformed())?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// Reads a number.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    /// Reads a number.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads a number.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads a number.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads bytes with their length before them, in two bytes.
    #[inline]
    pub fn sized(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u16()?;
        self.take(length.into())
    }
}

/// Appends numbers and texts.
pub trait Write {
    /// Appends a number.
    fn put_u8(&mut self, value: u8);
    /// Appends a number.
    fn put_u16(&mut self, value: u16);
    /// Appends a number.
    fn put_u32(&mut self, value: u32);
    /// Appends a number.
    fn put_u64(&mut self, value: u64);
    /// Appends a text with its length before it, in two bytes. A text of more than `most` bytes is cut.
    fn put_sized(&mut self, text: &str, most: u16);
}

impl Write for Vec<u8> {
    #[inline]
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    #[inline]
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_sized(&mut self, text: &str, most: u16) {
        let text = cut(text, most.into());
        self.put_u16(u16::try_from(text.len()).unwrap_or(most));
        self.extend_from_slice(text.as_bytes());
    }
}

/// Returns the characters of a text that fit into `most` bytes.
pub fn cut(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let mut out = Vec::new();
        out.put_u8(1);
        out.put_u16(0x0203);
        out.put_u32(0x0405_0607);
        out.put_u64(0x0809_0a0b_0c0d_0e0f);
        assert_eq!(out, (1..=15).collect::<Vec<_>>());
        let mut reader = Reader::new(&out, "numbers");
        assert_eq!((reader.u8(), reader.u16()), (Ok(1), Ok(0x0203)));
        assert_eq!((reader.u32(), reader.u64()), (Ok(0x0405_0607), Ok(0x0809_0a0b_0c0d_0e0f)));
        assert!(reader.is_empty());
        assert_eq!(reader.u8(), Err(Malformed { what: "numbers" }));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        fn check(text: &str, most: u16, expected: &[u8]) {
            let mut out = Vec::new();
            out.put_sized(text, most);
            assert_eq!(out, expected, "{text}");
            assert_eq!(Reader::new(&out, "it").sized(), Ok(&expected[2..]));
        }
        check("", 9, b"\0\0");
        check("abc", 3, b"\0\x03abc");
        check("abc", 2, b"\0\x02ab");
        check("\u{fc}\u{fc}", 3, b"\0\x02\xc3\xbc");
        assert!(Reader::new(b"\0\x02a", "it").sized().is_err(), "cut off");
    }
}
