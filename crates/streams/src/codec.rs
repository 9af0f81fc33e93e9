//! Numbers, texts and frames.

use rabbitscope_protocol::{Malformed, Reader, Write};

use crate::protocol::commands::VERSION;

/// Bytes of a frame's size.
pub(crate) const SIZE_BYTES: usize = 4;

/// Bytes of size, key and version.
pub(crate) const HEAD_BYTES: usize = SIZE_BYTES + 4;

/// Reads texts and lists.
pub(crate) trait Read<'a> {
    /// Reads a text. An absent one is empty.
    fn text(&mut self) -> Result<&'a str, Malformed>;
    /// Reads the number of elements of a list, each of which has at least `least` bytes.
    fn count(&mut self, least: usize) -> Result<usize, Malformed>;
}

impl<'a> Read<'a> for Reader<'a> {
    fn text(&mut self) -> Result<&'a str, Malformed> {
        /// Length of an absent text, -1.
        const ABSENT: u16 = u16::MAX;
        let length = self.u16()?;
        let bytes = self.take(if length == ABSENT { 0 } else { length.into() })?;
        std::str::from_utf8(bytes).map_err(|_| self.malformed())
    }

    fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.u32()? as usize;
        if count > self.rest().len() / least { Err(self.malformed()) } else { Ok(count) }
    }
}

/// Appends texts.
pub(crate) trait WriteTexts {
    /// Appends a text, cut to the size that its length permits.
    fn put_text(&mut self, text: &str);
    /// Appends pairs of texts.
    fn put_pairs(&mut self, pairs: &[(&str, &str)]);
}

impl WriteTexts for Vec<u8> {
    fn put_text(&mut self, text: &str) {
        self.put_sized(text, i16::MAX.unsigned_abs());
    }

    fn put_pairs(&mut self, pairs: &[(&str, &str)]) {
        self.put_u32(u32::try_from(pairs.len()).unwrap_or(0));
        for (key, value) in pairs {
            self.put_text(key);
            self.put_text(value);
        }
    }
}

/// Appends a frame whose content `write` appends.
pub(crate) fn write_frame(out: &mut Vec<u8>, key: u16, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.put_u32(0);
    out.put_u16(key);
    out.put_u16(VERSION);
    write(out);
    end_frame(out, at);
}

/// Writes the size of the frame that begins at `at` and reaches to the end.
#[inline]
pub(crate) fn end_frame(out: &mut [u8], at: usize) {
    let size = u32::try_from(out.len() - at - SIZE_BYTES).unwrap_or(u32::MAX);
    out[at..at + SIZE_BYTES].copy_from_slice(&size.to_be_bytes());
}
