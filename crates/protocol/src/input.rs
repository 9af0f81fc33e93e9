//! Received bytes, read from their start.

/// Received bytes, of which whole frames are taken.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Reads `bytes`, which start with a frame and may end within one.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bytes that were taken, which need not be kept.
    #[inline]
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// Returns the bytes that belong in front of the next read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Takes `count` bytes; at most the rest.
    #[inline]
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let rest = self.rest();
        let taken = &rest[..count.min(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Returns to a place where [`Input::consumed`] was `consumed`.
    #[inline]
    pub fn rewind(&mut self, consumed: usize) {
        self.at = consumed.min(self.at);
    }
}
