//! Output of a connection: bytes for the socket, in order.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// Bytes for the socket. The caller writes [`OutputBuffer::pending`] and passes the number of bytes that the socket
/// took to [`OutputBuffer::advance`].
#[derive(Default)]
pub struct OutputBuffer {
    bytes: Vec<u8>,
    written: usize,
    /// The template of the first bytes, and their number. They stay for its next messages when everything is written.
    first: Option<(TemplateId, usize)>,
}

/// The identity of messages that are encoded once, and differ only in parts that are written for each message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TemplateId(u64);

impl TemplateId {
    /// Creates an identity that no other template of this process has.
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Hides the number, so that templates with the same bytes look alike.
impl fmt::Debug for TemplateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TemplateId")
    }
}

/// The end of an output, where messages of a template go.
#[derive(Debug)]
pub struct Room<'a> {
    /// The output. Its bytes from `start` on are a part of what this template wrote there before: often everything
    /// but the parts that differ, and at most the announced size.
    pub out: &'a mut Vec<u8>,
    /// Start of the messages.
    pub start: usize,
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
    }

    /// Returns the end of the buffer, for encoders.
    #[inline]
    pub fn end(&mut self) -> &mut Vec<u8> {
        if self.is_empty() {
            self.clear();
        }
        &mut self.bytes
    }

    /// Returns the end of the buffer for `size` bytes of a template's messages. Where each byte goes depends on its
    /// distance from the first one only.
    #[inline]
    pub fn end_for(&mut self, template: TemplateId, size: usize) -> Room<'_> {
        if !self.is_empty() {
            let start = self.bytes.len();
            return Room { out: &mut self.bytes, start };
        }
        match self.first {
            Some((first, bytes)) if first == template => self.bytes.truncate(bytes.min(size)),
            _ => self.bytes.clear(),
        }
        self.written = 0;
        self.first = Some((template, size));
        Room { out: &mut self.bytes, start: 0 }
    }

    /// Frees memory after a burst; `keep` bytes of capacity stay.
    pub fn shrink(&mut self, keep: usize) {
        if self.is_empty() {
            self.clear();
            self.bytes.shrink_to(keep);
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.written = 0;
        self.first = None;
    }
}

/// Hides the bytes: a handshake holds the password.
impl fmt::Debug for OutputBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputBuffer({} bytes pending)", self.pending().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes messages of three bytes, the last of which is their number.
    fn put(output: &mut OutputBuffer, template: TemplateId, numbers: &[u8]) -> usize {
        let Room { out, start } = output.end_for(template, numbers.len() * 3);
        let known = out.len() - start;
        out.resize(start + numbers.len() * 3, b'-');
        for (message, number) in out[start..].chunks_mut(3).zip(numbers) {
            message[2] = *number;
        }
        known
    }

    #[test]
    fn bytes_of_a_template_stay_for_its_next_messages() {
        let (mut output, [one, other]) =
            (OutputBuffer::default(), [(); 2].map(|()| TemplateId::new()));
        let mut write = |template, numbers: &[u8], known| {
            assert_eq!(put(&mut output, template, numbers), known, "{numbers:?}");
            let expected = numbers.iter().flat_map(|number| [b'-', b'-', *number]);
            assert_eq!(output.pending(), expected.collect::<Vec<_>>());
            output.advance(numbers.len() * 3);
            assert!(output.is_empty() && output.pending().is_empty());
        };
        write(one, b"abc", 0);
        write(one, b"de", 6);
        write(one, b"fghi", 6);
        write(other, b"a", 0);
        write(one, b"a", 0);
    }

    #[test]
    fn only_the_first_bytes_of_an_output_stay() {
        let (mut output, template) = (OutputBuffer::default(), TemplateId::new());
        assert_eq!(put(&mut output, template, b"a"), 0);
        output.advance(2);
        assert_eq!(put(&mut output, template, b"b"), 0, "the output is not empty");
        assert_eq!(output.pending(), b"a--b");
        output.end().push(b'!');
        output.advance(5);
        assert_eq!(put(&mut output, template, b"cd"), 3, "of the first message");
        assert_eq!(output.pending(), b"--c--d");
        output.advance(6);
        output.end().push(b'!');
        assert_eq!(output.pending(), b"!");
        output.advance(1);
        assert_eq!(put(&mut output, template, b"e"), 0, "others have written since");
    }
}
