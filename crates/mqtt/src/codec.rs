//! Numbers, texts and packets.

use crate::error::Malformed;

/// Largest length of a packet behind its length, in bytes.
pub(crate) const LENGTH_MAX: usize = 0x0fff_ffff;

/// Most bytes of a length.
const LENGTH_BYTES: usize = 4;

/// A reader of received bytes. `what` names them in errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    pub(crate) fn malformed(&self) -> Malformed {
        Malformed { what: self.what }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(self.malformed())?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Returns a reader of the next `count` bytes.
    pub(crate) fn part(&mut self, count: usize) -> Result<Self, Malformed> {
        Ok(Self { bytes: self.take(count)?, what: self.what })
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(self.malformed())?;
        self.bytes = rest;
        Ok(*taken)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Reads bytes with their length before them.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u16()?;
        self.take(length.into())
    }

    /// Reads a length of one to four bytes.
    #[inline]
    pub(crate) fn length(&mut self) -> Result<usize, Malformed> {
        let (length, bytes) = length(self.bytes)?.ok_or(self.malformed())?;
        self.take(bytes)?;
        Ok(length)
    }
}

/// Reads a length of one to four bytes, the least important seven bits first. Returns it with the number of its bytes;
/// `None` if it is not complete.
#[inline]
fn length(bytes: &[u8]) -> Result<Option<(usize, usize)>, Malformed> {
    let mut length = 0;
    for (at, byte) in bytes.iter().take(LENGTH_BYTES).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(Some((length, at + 1)));
        }
    }
    if bytes.len() < LENGTH_BYTES { Ok(None) } else { Err(Malformed { what: "a length" }) }
}

/// Returns the bytes of a length.
pub(crate) fn length_size(length: usize) -> usize {
    match length {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        _ => LENGTH_BYTES,
    }
}

/// First byte and size of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) first: u8,
    /// Bytes up to the length, which is the last of them.
    pub(crate) before: usize,
    /// Bytes behind the length.
    pub(crate) length: usize,
}

impl Head {
    /// Reads the head of the packet at the front of `bytes`; `None` if it is not complete.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
        let found = length(rest)?;
        Ok(found.map(|(length, bytes)| Self { first: *first, before: 1 + bytes, length }))
    }

    /// Returns the bytes of the whole packet.
    #[inline]
    pub(crate) fn size(self) -> usize {
        self.before + self.length
    }
}

/// Appends numbers and texts.
pub(crate) trait Write {
    /// Appends a number.
    fn put_u16(&mut self, value: u16);
    /// Appends a text, cut to the size that its length permits.
    fn put_text(&mut self, text: &str);
    /// Appends a length of one to four bytes, at most [`LENGTH_MAX`].
    fn put_length(&mut self, length: usize);
}

impl Write for Vec<u8> {
    #[inline]
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_text(&mut self, text: &str) {
        const MOST: usize = u16::MAX as usize;
        let end = (0..=text.len().min(MOST)).rev().find(|end| text.is_char_boundary(*end));
        let bytes = &text.as_bytes()[..end.unwrap_or(0)];
        self.put_u16(u16::try_from(bytes.len()).unwrap_or(0));
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn put_length(&mut self, length: usize) {
        let mut left = length.min(LENGTH_MAX);
        loop {
            let bits = left.to_le_bytes()[0] & 0x7f;
            left >>= 7;
            if left == 0 {
                self.push(bits);
                return;
            }
            self.push(bits | 0x80);
        }
    }
}

/// Appends a packet whose content `write` appends.
pub(crate) fn write_packet(out: &mut Vec<u8>, first: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let mut content = Vec::new();
    write(&mut content);
    out.push(first);
    out.put_length(content.len());
    out.extend_from_slice(&content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_to_four_bytes() {
        fn check(value: usize, expected: &[u8]) {
            let mut out = Vec::new();
            out.put_length(value);
            assert_eq!(out, expected, "{value}");
            assert_eq!(length(&out), Ok(Some((value, expected.len()))));
            assert_eq!(length_size(value), expected.len());
            assert_eq!(length(&out[..out.len() - 1]), Ok(None), "cut off");
        }
        check(0, &[0]);
        check(127, &[0x7f]);
        check(128, &[0x80, 0x01]);
        check(16_383, &[0xff, 0x7f]);
        check(16_384, &[0x80, 0x80, 0x01]);
        check(2_097_151, &[0xff, 0xff, 0x7f]);
        check(2_097_152, &[0x80, 0x80, 0x80, 0x01]);
        check(LENGTH_MAX, &[0xff, 0xff, 0xff, 0x7f]);
        assert!(length(&[0xff; 4]).is_err(), "there is no fifth byte");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut out = Vec::new();
        out.put_text(&"ü".repeat(40_000));
        assert_eq!((out.len(), &out[..4]), (2 + 65_534, &b"\xff\xfe\xc3\xbc"[..]));
    }
}
