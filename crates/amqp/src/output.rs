//! Bytes to be written to the socket, in order.

use std::fmt;

/// Bytes waiting for the socket. The caller writes [`OutputBuffer::pending`] and says how much of
/// it the socket took.
#[derive(Default)]
pub struct OutputBuffer {
    bytes: Vec<u8>,
    written: usize,
}

impl OutputBuffer {
    /// Bytes that the socket has not taken yet.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Everything has been written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    /// The socket took the first `count` bytes of [`OutputBuffer::pending`].
    pub fn advance(&mut self, count: usize) {
        self.written = (self.written + count).min(self.bytes.len());
        if self.is_empty() {
            self.bytes.clear();
            self.written = 0;
        }
    }

    /// The end of the buffer, for encoders.
    #[inline]
    pub(crate) fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Gives memory back after a burst; `keep` bytes of capacity stay.
    pub fn shrink(&mut self, keep: usize) {
        if self.is_empty() {
            self.bytes.shrink_to(keep);
        }
    }
}

/// The bytes themselves are not shown: a handshake holds the password.
impl fmt::Debug for OutputBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputBuffer({} bytes pending)", self.pending().len())
    }
}
