//! Updates that the bus has not stored yet. After a reconnection they are sent again.

use std::collections::VecDeque;

use crate::protocol::LogRecord;

/// Records that are not confirmed, in the order of the log.
#[derive(Default)]
pub(super) struct Outbox {
    records: VecDeque<(u64, Vec<u8>)>,
    next: u64,
    /// Number of records that were sent over the current connection.
    sent: usize,
    /// The run of the latest update, and the update's number in that run.
    run: String,
    number: u64,
}

impl Outbox {
    /// Adds an update of a run.
    pub(super) fn push(&mut self, run: &str, worker: &str, update: Vec<u8>) {
        if self.run != run {
            (self.run, self.number) = (run.to_owned(), 0);
        }
        self.number += 1;
        let (run, worker) = (run.to_owned(), worker.to_owned());
        let record = LogRecord::Update { run, worker, number: self.number, update };
        self.records.push_back((self.next, record.encode()));
        self.next += 1;
    }

    /// Marks all records as unsent after a reconnection.
    pub(super) fn on_reconnect(&mut self) {
        self.sent = 0;
    }

    /// Returns the records that were not sent over this connection, and marks them as sent.
    pub(super) fn unsent(&mut self) -> impl Iterator<Item = (u64, &[u8])> {
        let from = std::mem::replace(&mut self.sent, self.records.len());
        self.records.iter().skip(from).map(|(number, record)| (*number, record.as_slice()))
    }

    /// Removes a record that the bus has stored.
    pub(super) fn stored(&mut self, number: u64) {
        if let Some(index) = self.records.iter().position(|(of, _)| *of == number) {
            self.records.remove(index);
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Marks a refused record and all later ones as unsent.
    pub(super) fn refused(&mut self, number: u64) {
        if let Some(index) = self.records.iter().position(|(of, _)| *of == number) {
            self.sent = self.sent.min(index);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(outbox: &mut Outbox) -> Vec<u64> {
        outbox.unsent().map(|(number, _)| number).collect()
    }

    #[test]
    fn what_is_not_stored_is_sent_again() {
        let mut outbox = Outbox::default();
        for _ in 0..3 {
            outbox.push("r", "w", Vec::new());
        }
        assert_eq!(numbers(&mut outbox), [0, 1, 2]);
        assert_eq!(numbers(&mut outbox), [] as [u64; 0]);
        outbox.stored(1);
        outbox.push("r", "w", Vec::new());
        assert_eq!(numbers(&mut outbox), [3]);
        outbox.refused(2);
        assert_eq!(numbers(&mut outbox), [2, 3]);
        outbox.on_reconnect();
        assert_eq!(numbers(&mut outbox), [0, 2, 3]);
        for number in [0, 2, 3, 99] {
            outbox.stored(number);
        }
        assert!(outbox.is_empty());
        outbox.push("another", "w", Vec::new());
        let (_, record) = outbox.unsent().next().unwrap();
        let Some(LogRecord::Update { number, .. }) = LogRecord::decode(record) else { panic!() };
        assert_eq!(number, 1, "updates are numbered by run");
    }
}
