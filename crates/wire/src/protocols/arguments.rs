//! Big-endian numbers and short strings from the front of bytes, and hashes of strings.

use core::hash::Hasher;

use rustc_hash::FxHasher;

/// The rest of some bytes. Reading beyond the end returns none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a string of at most 255 bytes, after its length.
    pub(super) fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.bytes(usize::from(length))
    }

    /// Reads bytes after their length of four bytes.
    pub(super) fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(usize::try_from(length).ok()?)
    }
}

/// Hashes a string, to compare it with others. The hash is the same in every run of a program.
pub(super) fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// Returns the length of a short string within AMQP's limit.
pub(super) fn short_length(text: &[u8]) -> u8 {
    u8::try_from(text.len()).unwrap_or(u8::MAX)
}
