//! Buffered bytes of an input with their offset in it. The buffer holds the largest record.

use std::io::{self, ErrorKind, Read};

/// Minimum of bytes that are requested from the input at once.
const READ_BYTES: usize = 256 * 1024;

/// An input with its bytes that were read but not consumed.
#[derive(Debug)]
pub(super) struct Input<R> {
    source: R,
    buffer: Vec<u8>,
    /// Bounds of the unconsumed part of the buffer.
    start: usize,
    end: usize,
    /// Offset of `start` in the input.
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; 2 * READ_BYTES], start: 0, end: 0, offset: 0 }
    }

    /// Returns the offset of the first unconsumed byte in the input.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes that were read but not consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the last consumed bytes. They stay available until the next call that reads.
    pub(super) fn used(&self, length: usize) -> &[u8] {
        &self.buffer[self.start - length..self.start]
    }

    /// Reads until `length` unconsumed bytes are available. Returns false at the end of the input.
    pub(super) fn ensure(&mut self, length: usize) -> io::Result<bool> {
        while self.end - self.start < length {
            self.make_room(length);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Consumes bytes that are available.
    pub(super) fn consume(&mut self, length: usize) {
        debug_assert!(length <= self.end - self.start);
        self.start += length;
        self.offset += length as u64;
    }

    /// Skips bytes without keeping them. Returns false if the input ends before.
    pub(super) fn skip(&mut self, mut length: u64) -> io::Result<bool> {
        while length > 0 {
            if !self.ensure(1)? {
                return Ok(false);
            }
            let here = (self.end - self.start).min(usize::try_from(length).unwrap_or(usize::MAX));
            self.consume(here);
            length -= here as u64;
        }
        Ok(true)
    }

    /// Moves the unconsumed bytes to the front if the space after them is too small for an efficient read.
    fn make_room(&mut self, length: usize) {
        let wanted = self.start + length.max(self.end - self.start + READ_BYTES / 2);
        if wanted <= self.buffer.len() {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte per call, and interrupts every other call.
    struct Slow(Vec<u8>, bool);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.0.is_empty() {
                return Ok(0);
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    #[test]
    fn places_are_those_of_the_input() {
        let mut input = Input::new(Slow((0..100).collect(), false));
        assert!(input.ensure(10).unwrap());
        assert_eq!(input.bytes(), (0..10).collect::<Vec<u8>>());
        input.consume(4);
        assert_eq!(input.used(2), [2, 3]);
        assert!(input.skip(50).unwrap());
        assert_eq!(input.offset(), 54);
        assert!(input.ensure(46).unwrap());
        assert_eq!(input.bytes()[0], 54);
        assert!(!input.ensure(47).unwrap());
        assert!(!input.skip(47).unwrap());
        assert_eq!(input.offset(), 100);
    }

    #[test]
    fn what_is_longer_than_the_buffer_is_read() {
        let bytes: Vec<u8> = (0..3 * READ_BYTES).map(|number| number.to_le_bytes()[0]).collect();
        let mut input = Input::new(&bytes[..]);
        assert!(input.ensure(100).unwrap());
        input.consume(77);
        assert!(input.ensure(bytes.len() - 77).unwrap());
        assert_eq!(input.bytes(), &bytes[77..]);
    }
}
