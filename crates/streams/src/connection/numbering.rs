//! Numbers of a publisher's messages in the protocol.

use std::collections::VecDeque;

/// Numbers of a publisher's messages. Those that are sent again have their old numbers, and come first. All numbers rise,
/// so that a stream with a reference knows which messages it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    /// Numbers of the messages that are sent again.
    again: Vec<u64>,
    /// Number of the first message behind them.
    next: u64,
    /// Messages that have been sent.
    sent: u64,
    /// Entries of several messages that have no answer, the oldest first; absent if there were none.
    entries: Option<VecDeque<Entry>>,
}

/// An entry of several messages. Its number is that of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    number: u64,
    /// Positions of its messages on the connection.
    first: u64,
    last: u64,
}

impl Default for Numbering {
    fn default() -> Self {
        Self::new(Vec::new(), 1)
    }
}

impl Numbering {
    /// Creates the numbers of a publisher that sends these messages again, and then goes on with `next`. `again` rises,
    /// and ends below `next`.
    pub(super) fn new(again: Vec<u64>, next: u64) -> Self {
        Self { again, next, sent: 0, entries: None }
    }

    /// Returns the number of the message that is sent now.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        let index = self.sent;
        self.sent += 1;
        let before = self.again.len() as u64;
        match index.checked_sub(before) {
            Some(behind) => self.next + behind,
            None => usize::try_from(index).map_or(0, |index| self.again[index]),
        }
    }

    /// Notes that the message of this number, the last one, begins an entry or belongs to the last entry.
    #[inline]
    pub(super) fn note_in_entry(&mut self, number: u64, is_new: bool) {
        let last = self.sent;
        let entries = self.entries.get_or_insert_default();
        match entries.back_mut().filter(|_| !is_new) {
            Some(entry) => (entry.number, entry.last) = (number, last),
            None => entries.push_back(Entry { number, first: last, last }),
        }
    }

    /// Returns the positions of the messages that an answer with this number settles; `None` if it belongs to none.
    #[inline]
    pub(super) fn settle(&mut self, number: u64) -> Option<(u64, u64)> {
        let Some(entries) = &mut self.entries else {
            return self.position(number).map(|position| (position, position));
        };
        let at = entries.binary_search_by_key(&number, |entry| entry.number).ok()?;
        entries.remove(at).map(|entry| (entry.first, entry.last))
    }

    /// Returns the position of a sent message on this connection, from 1; `None` if no message had this number.
    #[inline]
    pub(super) fn position(&self, number: u64) -> Option<u64> {
        let before = self.again.len() as u64;
        let position = match number.checked_sub(self.next) {
            Some(behind) => before.saturating_add(behind).saturating_add(1),
            None => self.again.binary_search(&number).ok()? as u64 + 1,
        };
        (position <= self.sent).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_publisher_counts_from_one() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.position(1), None, "it is not sent yet");
        assert_eq!([numbering.take(), numbering.take()], [1, 2]);
        assert_eq!(
            [0, 1, 2, 3].map(|number| numbering.position(number)),
            [None, Some(1), Some(2), None]
        );
    }

    #[test]
    fn an_entry_is_settled_by_its_last_number() {
        let mut numbering = Numbering::new(vec![3], 7);
        for is_new in [true, false, true, true, false, false] {
            let number = numbering.take();
            numbering.note_in_entry(number, is_new);
        }
        assert_eq!(numbering.settle(3), None, "the entry goes on");
        let settled = [8, 11, 7].map(|number| numbering.settle(number));
        assert_eq!(settled, [Some((3, 3)), Some((4, 6)), Some((1, 2))]);
        assert_eq!(numbering.settle(7), None, "a second answer");
    }

    #[test]
    fn messages_that_are_sent_again_keep_their_numbers() {
        let mut numbering = Numbering::new(vec![5, 6, 9], 10);
        let sent: Vec<_> = (0..5).map(|_| numbering.take()).collect();
        assert_eq!(sent, [5, 6, 9, 10, 11]);
        let positions = sent.iter().map(|number| numbering.position(*number));
        assert_eq!(positions.collect::<Vec<_>>(), (1..=5).map(Some).collect::<Vec<_>>());
        assert_eq!([7, 12].map(|number| numbering.position(number)), [None, None]);
    }
}
