//! AMQP's encoding of numbers and strings: big-endian, strings with a length prefix.

use rabbitscope_protocol::{Write as _, cut};

use crate::error::Malformed;

/// Reads from the front of a byte slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or(Malformed("short of bytes"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed("short of bytes"))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn short_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u8()?;
        self.bytes(usize::from(length))
    }

    /// Reads a short string for people. Bytes that are not UTF-8 are replaced.
    pub(crate) fn short_text(&mut self) -> Result<String, Malformed> {
        self.short_bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub(crate) fn long_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        self.bytes(length)
    }
}

/// Appends strings and flags.
pub(crate) trait WriteStrings {
    /// Appends a short string, cut at 255 bytes.
    fn put_short(&mut self, text: &str);
    /// Appends a long string. The format allows 4 GiB; callers stay far below.
    fn put_long(&mut self, bytes: &[u8]);
    /// Appends up to eight flags in one octet, the first in the lowest bit.
    fn put_bits(&mut self, bits: &[bool]);
}

impl WriteStrings for Vec<u8> {
    fn put_short(&mut self, text: &str) {
        let text = cut(text, u8::MAX.into());
        self.put_u8(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.extend_from_slice(text.as_bytes());
    }

    fn put_long(&mut self, bytes: &[u8]) {
        self.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.extend_from_slice(bytes);
    }

    fn put_bits(&mut self, bits: &[bool]) {
        let octet =
            bits.iter().enumerate().fold(0, |octet, (index, bit)| octet | u8::from(*bit) << index);
        self.push(octet);
    }
}
