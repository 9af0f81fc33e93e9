//! Numbers, texts and packets.

use rabbitscope_protocol::{Malformed, Reader, Write as _};

/// Largest length of a packet behind its length, in bytes.
pub(crate) const LENGTH_MAX: usize = 0x0fff_ffff;

/// Most bytes of a length.
const LENGTH_BYTES: usize = 4;

/// Reads a length of one to four bytes.
#[inline]
pub(crate) fn read_length(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let (length, bytes) = length(reader.rest())?.ok_or(reader.malformed())?;
    reader.take(bytes)?;
    Ok(length)
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

/// Appends texts and lengths.
pub(crate) trait Put {
    /// Appends a text, cut to the size that its length permits.
    fn put_text(&mut self, text: &str);
    /// Appends a length of one to four bytes, at most [`LENGTH_MAX`].
    fn put_length(&mut self, length: usize);
}

impl Put for Vec<u8> {
    fn put_text(&mut self, text: &str) {
        self.put_sized(text, u16::MAX);
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
}
