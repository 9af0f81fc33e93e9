//! Numbers, texts and frames.

use crate::{error::Malformed, protocol::commands::VERSION};

/// Bytes of a frame's size.
pub(crate) const SIZE_BYTES: usize = 4;

/// Bytes of size, key and version.
pub(crate) const HEAD_BYTES: usize = SIZE_BYTES + 4;

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

    /// Returns what has not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(self.malformed())?;
        self.bytes = rest;
        Ok(taken)
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

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Reads a text. An absent one is empty.
    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        /// Length of an absent text, -1.
        const ABSENT: u16 = u16::MAX;
        let length = self.u16()?;
        let bytes = self.take(if length == ABSENT { 0 } else { length.into() })?;
        std::str::from_utf8(bytes).map_err(|_| self.malformed())
    }

    /// Reads the number of elements of a list, each of which has at least `least` bytes.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.u32()? as usize;
        if count > self.bytes.len() / least { Err(self.malformed()) } else { Ok(count) }
    }
}

/// Appends numbers and texts.
pub(crate) trait Write {
    /// Appends a number.
    fn put_u8(&mut self, value: u8);
    /// Appends a number.
    fn put_u16(&mut self, value: u16);
    /// Appends a number.
    fn put_u32(&mut self, value: u32);
    /// Appends a number.
    fn put_u64(&mut self, value: u64);
    /// Appends a text, cut to what its length can say.
    fn put_text(&mut self, text: &str);
    /// Appends pairs of texts.
    fn put_pairs(&mut self, pairs: &[(&str, &str)]);
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

    fn put_text(&mut self, text: &str) {
        const MOST: usize = i16::MAX as usize;
        let end = (0..=text.len().min(MOST)).rev().find(|end| text.is_char_boundary(*end));
        let bytes = &text.as_bytes()[..end.unwrap_or(0)];
        self.put_u16(u16::try_from(bytes.len()).unwrap_or(0));
        self.extend_from_slice(bytes);
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
