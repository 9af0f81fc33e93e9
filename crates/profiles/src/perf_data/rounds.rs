//! Orders records by time.
//!
//! Each CPU has a buffer of its own, and perf copies the buffers into the file one after another. Times increase within
//! a buffer only. After each round over all buffers perf writes a mark: later records are no earlier than the latest
//! record before the previous mark (`tools/perf/util/ordered-events.c`).

/// Limit of waiting bytes. A file without marks is one round; half of the records are taken when this limit is reached.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// A waiting record, without its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    time: u64,
    pub(super) kind: u32,
    pub(super) misc: u16,
    /// Position in the file.
    pub(super) position: u64,
    offset: usize,
    length: usize,
}

/// Records that wait because earlier ones may follow.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    bytes: Vec<u8>,
    waiting: Vec<Waiting>,
    latest: u64,
    /// All records up to this time were read.
    complete_until: u64,
}

/// Records in their turn.
#[derive(Debug, Default)]
pub(super) struct Ready {
    bytes: Vec<u8>,
    records: Vec<Waiting>,
}

impl Ready {
    /// Iterates over the records in order of time, with their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Waiting, &[u8])> {
        self.records
            .iter()
            .map(|record| (*record, &self.bytes[record.offset..record.offset + record.length]))
    }
}

impl Rounds {
    /// Adds a record. Returns true when half of the waiting records must be taken.
    pub(super) fn add(
        &mut self,
        time: u64,
        (kind, misc, position): (u32, u16, u64),
        body: &[u8],
    ) -> bool {
        let (offset, length) = (self.bytes.len(), body.len());
        self.bytes.extend_from_slice(body);
        self.waiting.push(Waiting { time, kind, misc, position, offset, length });
        self.latest = self.latest.max(time);
        self.bytes.len() >= MAX_WAITING_BYTES
    }

    /// Takes the records that no later one can precede, at the mark that ends a round.
    pub(super) fn end_round(&mut self) -> Ready {
        self.waiting.sort_by_key(|record| record.time);
        let until = self.complete_until;
        self.complete_until = self.latest;
        self.take(self.waiting.partition_point(|record| record.time <= until))
    }

    /// Takes the earlier half of all records.
    pub(super) fn half(&mut self) -> Ready {
        self.waiting.sort_by_key(|record| record.time);
        self.take(self.waiting.len().div_ceil(2))
    }

    /// Takes all records.
    pub(super) fn rest(&mut self) -> Ready {
        self.waiting.sort_by_key(|record| record.time);
        self.take(self.waiting.len())
    }

    fn take(&mut self, count: usize) -> Ready {
        let later = self.waiting.split_off(count);
        let records = std::mem::replace(&mut self.waiting, later);
        let mut bytes = Vec::new();
        for record in &mut self.waiting {
            let offset = bytes.len();
            bytes.extend_from_slice(&self.bytes[record.offset..record.offset + record.length]);
            record.offset = offset;
        }
        Ready { bytes: std::mem::replace(&mut self.bytes, bytes), records }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ready: &Ready) -> Vec<(u64, u8)> {
        ready.iter().map(|(record, body)| (record.time, body[0])).collect()
    }

    fn rounds(records: &[(u64, u8)]) -> Rounds {
        let mut rounds = Rounds::default();
        for &(time, byte) in records {
            rounds.add(time, (9, 0, 0), &[byte]);
        }
        rounds
    }

    #[test]
    fn a_round_waits_for_the_one_after() {
        let mut rounds = rounds(&[(5, 1), (9, 2), (3, 3)]);
        assert_eq!(times(&rounds.end_round()), []);
        rounds.add(8, (9, 0, 0), &[4]);
        rounds.add(12, (9, 0, 0), &[5]);
        assert_eq!(times(&rounds.end_round()), [(3, 3), (5, 1), (8, 4), (9, 2)]);
        assert_eq!(times(&rounds.rest()), [(12, 5)]);
        assert_eq!(times(&rounds.rest()), []);
    }

    #[test]
    fn records_of_one_time_keep_their_order() {
        let mut rounds = rounds(&[(5, 1), (5, 2), (4, 3), (5, 4)]);
        assert_eq!(times(&rounds.half()), [(4, 3), (5, 1)]);
        assert_eq!(times(&rounds.rest()), [(5, 2), (5, 4)]);
    }
}
