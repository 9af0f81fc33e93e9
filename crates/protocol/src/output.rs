//! Output of a connection: bytes for the socket, in order.

use std::fmt;

/// Bytes for the socket. The caller writes [`OutputBuffer::pending`] and passes the number of bytes that the socket
/// took to [`OutputBuffer::advance`].
#[derive(Default)]
pub struct OutputBuffer {
    bytes: Vec<u8>,
    written: usize,
}

impl OutputBuffer {
    /// Returns the bytes that the socket has not taken yet.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Returns true if everything is written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    /// Notes that the socket took the first `count` bytes of [`OutputBuffer::pending`].
    pub fn advance(&mut self, count: usize) {
        self.written = (self.written + count).min(self.bytes.len());
        if self.is_empty() {
            self.bytes.clear();
            self.written = 0;
        }
    }

    /// Returns the end of the buffer, for encoders.
    #[inline]
    pub fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Frees memory after a burst; `keep` bytes of capacity stay.
    pub fn shrink(&mut self, keep: usize) {
        if self.is_empty() {
            self.bytes.shrink_to(keep);
        }
    }
}

/// Hides the bytes: a handshake holds the password.
impl fmt::Debug for OutputBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputBuffer({} bytes pending)", self.pending().len())
    }
}
