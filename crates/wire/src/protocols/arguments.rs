//! Big-endian numbers and short strings from the front of bytes, hashes of strings, and the bytes of a frame's
//! arguments.

use core::hash::Hasher;

use rustc_hash::FxHasher;

/// The rest of some bytes. Reading beyond the end returns none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a string of at most 255 bytes, after its length.
    pub(crate) fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.bytes(usize::from(length))
    }

    /// Reads bytes after their length of four bytes.
    pub(crate) fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(usize::try_from(length).ok()?)
    }
}

/// The arguments of the current frame. They are kept only on request, until the frame is complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptArguments {
    is_on: bool,
    bytes: Vec<u8>,
}

impl KeptArguments {
    /// Keeps the arguments of all frames to come.
    pub(crate) const fn turn_on(&mut self) {
        self.is_on = true;
    }

    /// Returns whether arguments are kept.
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Resets for the next frame.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    #[inline]
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        if self.is_on {
            self.bytes.extend_from_slice(bytes);
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Hashes a string, to compare it with others. The hash is the same in every run of a program.
pub fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// Returns the length of a short string within AMQP's limit.
pub(crate) fn short_length(text: &[u8]) -> u8 {
    u8::try_from(text.len()).unwrap_or(u8::MAX)
}
