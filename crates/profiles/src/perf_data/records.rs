//! Reads records, and orders them by time.
//!
//! Each CPU has a buffer of its own, and perf copies the buffers into the file one after another. Times increase within
//! a buffer only. After each round over all buffers perf writes a mark: later records are no earlier than the latest
//! record before the previous mark (`tools/perf/util/ordered-events.c`).

use std::io::{self, Read};

use super::{PerfDataError, layout::Bytes};

/// Types of records that have data behind them, and of the mark that ends a round.
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;
const FINISHED_ROUND: u32 = 68;

const HEADER_BYTES: usize = 8;

/// Size of a read.
const BLOCK_BYTES: u64 = 1 << 20;

/// Limit of waiting bytes. A file without marks is one round; half of the records are taken when this limit is reached.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Limits of the unused bytes between waiting ones. Beyond, the waiting records are moved together, which takes time.
const LEAST_UNUSED_BYTES: usize = 1 << 20;
const MOST_UNUSED_BYTES: usize = 64 << 20;

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

/// The place of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// 0 if unknown.
    time: u64,
    /// Position in the file.
    position: u64,
    /// Index of its header among the kept bytes.
    start: usize,
}

/// The records of a file, each in its turn.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    /// Position of the next unread record.
    position: u64,
    /// Position after the last record; absent if the records end with the file.
    end: Option<u64>,
    /// Bytes of the file: the waiting records, unused bytes between them, and bytes that were read ahead.
    kept: Vec<u8>,
    /// Index of the next unread record among the kept bytes.
    unread: usize,
    /// Records that wait because earlier ones may follow.
    waiting: Vec<Place>,
    waiting_bytes: usize,
    max_waiting_bytes: usize,
    /// Number of the waiting records whose turn it is, which are in order, and of the passed ones among them.
    ready: usize,
    passed: usize,
    current: Place,
    latest: u64,
    /// All records up to this time were read.
    complete_until: u64,
}

impl<R: Read> Records<R> {
    /// Records from position `first`, where the input stands.
    pub(super) fn new(input: R, first: u64, end: Option<u64>) -> Self {
        Self {
            input,
            position: first,
            end,
            kept: Vec::new(),
            unread: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            max_waiting_bytes: MAX_WAITING_BYTES,
            ready: 0,
            passed: 0,
            current: Place::default(),
            latest: 0,
            complete_until: 0,
        }
    }

    /// Goes to the next record. Returns false after the last one. `time_of` finds the time of a record; one without a
    /// time does not wait.
    pub(super) fn advance(
        &mut self,
        time_of: impl Fn(Record<'_>) -> Option<u64>,
    ) -> Result<bool, PerfDataError> {
        while self.passed == self.ready {
            self.waiting.drain(..self.passed);
            (self.ready, self.passed) = (0, 0);
            let Some(mut place) = self.read()? else {
                if self.waiting.is_empty() {
                    return Ok(false);
                }
                self.make_ready(<[Place]>::len);
                continue;
            };
            let record = self.record(place);
            if record.kind == FINISHED_ROUND {
                let until = std::mem::replace(&mut self.complete_until, self.latest);
                self.make_ready(|waiting| waiting.partition_point(|place| place.time <= until));
                continue;
            }
            let Some(time) = time_of(record) else {
                self.current = place;
                return Ok(true);
            };
            place.time = time;
            self.latest = self.latest.max(time);
            self.waiting_bytes += self.size_at(place.start);
            self.waiting.push(place);
            if self.waiting_bytes >= self.max_waiting_bytes {
                self.make_ready(|waiting| waiting.len().div_ceil(2));
            }
        }
        self.current = self.waiting[self.passed];
        self.passed += 1;
        self.waiting_bytes -= self.size_at(self.current.start);
        Ok(true)
    }

    /// The record that [`Self::advance`] went to.
    pub(super) fn current(&self) -> Record<'_> {
        self.record(self.current)
    }

    /// Orders the waiting records, of which the first `count` are ready.
    fn make_ready(&mut self, count: impl FnOnce(&[Place]) -> usize) {
        self.waiting.sort_by_key(|place| place.time);
        self.ready = count(&self.waiting);
    }

    /// Reads a record, and skips the data behind it.
    fn read(&mut self) -> Result<Option<Place>, PerfDataError> {
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
        let place = Place { time: 0, position: self.position, start: self.unread };
        self.unread += size;
        self.position += size as u64;
        self.skip_data(place)?;
        Ok(Some(place))
    }

    /// Skips the data that follow two kinds of records, outside the records' size.
    fn skip_data(&mut self, place: Place) -> Result<(), PerfDataError> {
        let record = self.record(place);
        let mut bytes = Bytes(record.body);
        let size = match record.kind {
            AUXTRACE => bytes.u64(),
            TRACING_DATA => bytes.u32().map(|size| u64::from(size).next_multiple_of(8)),
            _ => return Ok(()),
        };
        let size = size.unwrap_or(0);
        let ahead = self.kept.len() - self.unread;
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
        while self.kept.len() - self.unread < count {
            self.make_room();
            if self.input.by_ref().take(BLOCK_BYTES).read_to_end(&mut self.kept)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves the waiting records together if there are too many unused bytes between them.
    fn make_room(&mut self) {
        let unused = self.unread - self.waiting_bytes;
        if unused <= (2 * self.waiting_bytes).clamp(LEAST_UNUSED_BYTES, MOST_UNUSED_BYTES) {
            return;
        }
        self.waiting.sort_unstable_by_key(|place| place.start);
        let mut end = 0;
        for index in 0..self.waiting.len() {
            let start = std::mem::replace(&mut self.waiting[index].start, end);
            let size = self.size_at(start);
            self.kept.copy_within(start..start + size, end);
            end += size;
        }
        self.kept.drain(end..self.unread);
        self.unread = end;
    }

    fn record(&self, Place { position, start, .. }: Place) -> Record<'_> {
        let (header, body) = self.kept[start..start + self.size_at(start)].split_at(HEADER_BYTES);
        let kind = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let misc = u16::from_le_bytes([header[4], header[5]]);
        Record { kind, misc, position, body }
    }

    /// Returns the size in the header at `start`.
    fn size_at(&self, start: usize) -> usize {
        usize::from(u16::from_le_bytes([self.kept[start + 6], self.kept[start + 7]]))
    }

    fn broken(&self, problem: &'static str) -> PerfDataError {
        PerfDataError::Broken { offset: self.position, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a round.
    const MARK: (u8, u8) = (0, 0);

    /// Returns the records of a file, which are pairs of time and name, in their turn.
    fn in_order(records: &[(u8, u8)], waiting_bytes: usize) -> Vec<(u8, u8)> {
        let record = |&(time, name): &(u8, u8)| {
            let kind = if time == 0 { FINISHED_ROUND } else { 9 };
            [&kind.to_le_bytes()[..], &[0, 0, 10, 0, time, name]].concat()
        };
        let bytes: Vec<u8> = records.iter().flat_map(record).collect();
        let mut records = Records::new(bytes.as_slice(), 0, None);
        records.max_waiting_bytes = waiting_bytes;
        let mut found = Vec::new();
        while records.advance(|record| Some(record.body[0].into())).unwrap() {
            let body = records.current().body;
            found.push((body[0], body[1]));
        }
        found
    }

    #[test]
    fn a_round_waits_for_the_one_after() {
        let records = [(5, 1), (9, 2), (3, 3), MARK, (8, 4), (12, 5), MARK, (10, 6)];
        let expected = [(3, 3), (5, 1), (8, 4), (9, 2), (10, 6), (12, 5)];
        assert_eq!(in_order(&records, MAX_WAITING_BYTES), expected);
    }

    #[test]
    fn records_of_one_time_keep_their_order() {
        let records = [(5, 1), (5, 2), (4, 3), (5, 4)];
        let expected = [(4, 3), (5, 1), (5, 2), (5, 4)];
        assert_eq!(in_order(&records, MAX_WAITING_BYTES), expected);
    }

    /// A round of any length takes no more than the limit.
    #[test]
    fn half_of_the_records_are_taken_at_the_limit() {
        let records = [(5, 1), (5, 2), (4, 3), (5, 4), (1, 5), (2, 6)];
        let expected = [(4, 3), (5, 1), (1, 5), (2, 6), (5, 2), (5, 4)];
        assert_eq!(in_order(&records, 40), expected);
    }

    #[test]
    fn memory_is_bounded() {
        const BODY_BYTES: u16 = 50_000;
        let mut bytes = Vec::new();
        for number in 0..2000_u64 {
            let time = number ^ 7;
            bytes.extend_from_slice(
                &[&[9, 0, 0, 0, 0, 0][..], &(BODY_BYTES + 8).to_le_bytes()].concat(),
            );
            bytes.extend_from_slice(&time.to_le_bytes());
            bytes.resize(bytes.len() + usize::from(BODY_BYTES) - 8, 0);
            if number % 16 == 15 {
                bytes.extend_from_slice(&[68, 0, 0, 0, 0, 0, 8, 0]);
            }
        }
        let mut records = Records::new(bytes.as_slice(), 0, None);
        for expected in 0..2000 {
            let time = |record: Record<'_>| Bytes(record.body).u64();
            assert!(records.advance(time).unwrap());
            let record = records.current();
            assert_eq!((time(record), record.body.len()), (Some(expected), BODY_BYTES.into()));
            assert!(records.kept.len() < 8 << 20, "{}", records.kept.len());
        }
    }
}
