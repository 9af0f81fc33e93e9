//! Reads records in the order of the file.

use std::io::{self, Read};

use super::{PerfDataError, layout::Bytes};

/// Types of records that have data behind them.
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;

const HEADER_BYTES: usize = 8;

/// Size of a read: more than the longest record, and little enough to stay in the cache of a core.
const BLOCK_BYTES: usize = 1 << 18;

const CUT_OFF: &str = "it ends in the middle of a record, so it was cut off";

/// A record of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) misc: u16,
    /// Position in the file.
    pub(super) position: u64,
    /// The bytes after the header.
    pub(super) body: &'a [u8],
}

/// The records of a file. A record stays where it was read until the next one.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    /// Position of the next record in the file.
    position: u64,
    /// Position after the last record; absent if the records end with the file.
    end: Option<u64>,
    /// Bytes of the file.
    block: Vec<u8>,
    /// Index of the next record in the block.
    unread: usize,
    /// Index after the bytes that were read.
    filled: usize,
}

impl<R: Read> Records<R> {
    /// Records from position `first`, where the input stands.
    pub(super) fn new(input: R, first: u64, end: Option<u64>) -> Self {
        let block = vec![0; BLOCK_BYTES];
        Self { input, position: first, end, block, unread: 0, filled: 0 }
    }

    /// Reads a record, and skips the data behind it. Returns `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, PerfDataError> {
        if self.end.is_some_and(|end| self.position >= end) || !self.has(1)? {
            return Ok(None);
        }
        if !self.has(HEADER_BYTES)? {
            return Err(self.broken(CUT_OFF));
        }
        let size = self.size_at(self.unread);
        if size < HEADER_BYTES {
            return Err(self.broken("a record is shorter than its own header"));
        }
        if !self.has(size)? {
            return Err(self.broken(CUT_OFF));
        }
        let (start, position) = (self.unread, self.position);
        self.unread += size;
        self.position += size as u64;
        self.skip_data(start)?;
        Ok(Some(self.record(start, position)))
    }

    /// Skips the data that follow two kinds of records, outside the records' size. The record stays in its place.
    fn skip_data(&mut self, start: usize) -> Result<(), PerfDataError> {
        let record = self.record(start, 0);
        let mut bytes = Bytes(record.body);
        let size = match record.kind {
            AUXTRACE => bytes.u64(),
            TRACING_DATA => bytes.u32().map(|size| u64::from(size).next_multiple_of(8)),
            _ => return Ok(()),
        };
        let size = size.unwrap_or(0);
        let ahead = self.filled - self.unread;
        let ahead = usize::try_from(size).map_or(ahead, |size| size.min(ahead));
        let beyond = size - ahead as u64;
        let skipped = io::copy(&mut self.input.by_ref().take(beyond), &mut io::sink())?;
        self.unread += ahead;
        self.position = self.position.saturating_add(ahead as u64 + skipped);
        if skipped < beyond {
            return Err(self.broken("it ends in the middle of trace data, so it was cut off"));
        }
        Ok(())
    }

    /// Reads until `count` bytes of the next record are there. Returns false if the file ends before.
    fn has(&mut self, count: usize) -> io::Result<bool> {
        if self.filled - self.unread >= count {
            return Ok(true);
        }
        self.block.copy_within(self.unread..self.filled, 0);
        self.filled -= self.unread;
        self.unread = 0;
        while self.filled < count {
            match self.input.read(&mut self.block[self.filled..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn record(&self, start: usize, position: u64) -> Record<'_> {
        let (header, body) = self.block[start..start + self.size_at(start)].split_at(HEADER_BYTES);
        let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let misc = u16::from_le_bytes([header[4], header[5]]);
        Record { kind, misc, position, body }
    }

    /// Returns the size in the header at `start`.
    fn size_at(&self, start: usize) -> usize {
        usize::from(u16::from_le_bytes([self.block[start + 6], self.block[start + 7]]))
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most some bytes at once, as a pipe does.
    struct Piecewise<'a>(&'a [u8], usize);

    impl Read for Piecewise<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(body.len() + HEADER_BYTES).unwrap();
        [&kind.to_le_bytes()[..], &[0; 2], &size.to_le_bytes(), body].concat()
    }

    #[test]
    fn records_of_any_length_cross_the_blocks() {
        let lengths = (0..2000_usize).map(|number| (number * 7919) % 65_528);
        let body = |length: usize| vec![u8::try_from(length % 251).unwrap(); length];
        let bytes: Vec<u8> = lengths.clone().flat_map(|length| record(9, &body(length))).collect();
        for most in [usize::MAX, 4096, 30_001] {
            let mut records = Records::new(Piecewise(&bytes, most), 0, None);
            let mut position = 0;
            for length in lengths.clone() {
                let found = records.next().unwrap().unwrap();
                assert_eq!((found.position, found.body), (position, &body(length)[..]));
                position += (length + HEADER_BYTES) as u64;
            }
            assert!(records.next().unwrap().is_none());
            assert_eq!(records.block.len(), BLOCK_BYTES);
        }
    }

    #[test]
    fn trace_data_are_skipped() {
        for size in [0, 16, 3 * BLOCK_BYTES] {
            let trace = record(AUXTRACE, &(size as u64).to_le_bytes());
            let bytes = [trace, vec![1; size], record(9, b"next")].concat();
            let mut records = Records::new(bytes.as_slice(), 0, None);
            assert_eq!(records.next().unwrap().unwrap().kind, AUXTRACE);
            let next = records.next().unwrap().unwrap();
            assert_eq!((next.position, next.body), (16 + size as u64, &b"next"[..]));
            let cut = Records::new(&bytes[..15 + size], 0, None).next().map(|_| ());
            assert!(cut.is_err());
        }
    }
}
