//! Numbers of a publisher's messages in the protocol.

use std::collections::VecDeque;

use crate::publish::Numbers;

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
    /// By stream: entries of several messages that have no answer, the oldest first; absent if there were none.
    entries: Option<Vec<VecDeque<Entry>>>,
}

/// Positions of messages on the connection, from the first to the last.
pub(super) type Run = (u64, u64);

/// An entry of several messages. Its number is that of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    number: u64,
    /// Its messages: one run, unless others between them went to other streams.
    runs: Vec<Run>,
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

    /// Returns the numbers of `count` messages that are sent now.
    #[inline]
    pub(super) fn take_all(&mut self, count: usize) -> Numbers<'_> {
        let before = self.again.len() as u64;
        let (first, count) = (self.sent, count as u64);
        self.sent += count;
        let begin = usize::try_from(first.min(before)).unwrap_or(0);
        let end = usize::try_from(self.sent.min(before)).unwrap_or(0);
        Numbers { again: &self.again[begin..end], next: self.next + first.saturating_sub(before) }
    }

    /// Notes that the message of this number, the last one, begins an entry or belongs to the last entry.
    #[inline]
    pub(super) fn note_in_entry(&mut self, stream: u8, number: u64, is_new: bool) {
        let (here, index) = (self.sent, usize::from(stream));
        let entries = self.entries.get_or_insert_default();
        if entries.len() <= index {
            entries.resize_with(index + 1, VecDeque::new);
        }
        match entries[index].back_mut().filter(|_| !is_new) {
            Some(entry) => entry.append(number, here),
            None => entries[index].push_back(Entry { number, runs: vec![(here, here)] }),
        }
    }

    /// Returns the first run of messages that an answer with this number settles, and appends the others to `rest`; `None`
    /// if it belongs to none.
    #[inline]
    pub(super) fn settle(
        &mut self,
        stream: u8,
        number: u64,
        rest: &mut VecDeque<Run>,
    ) -> Option<Run> {
        let Some(entries) = &mut self.entries else {
            return self.position(number).map(|position| (position, position));
        };
        let entries = entries.get_mut(usize::from(stream))?;
        let at = entries.binary_search_by_key(&number, |entry| entry.number).ok()?;
        let mut runs = entries.remove(at)?.runs.into_iter();
        let first = runs.next();
        rest.extend(runs);
        first
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

impl Entry {
    fn append(&mut self, number: u64, position: u64) {
        self.number = number;
        match self.runs.last_mut() {
            Some((_, last)) if *last + 1 == position => *last = position,
            _ => self.runs.push((position, position)),
        }
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
            numbering.note_in_entry(0, number, is_new);
        }
        let mut rest = VecDeque::new();
        let mut settle = |number| numbering.settle(0, number, &mut rest);
        assert_eq!(settle(3), None, "the entry goes on");
        assert_eq!([8, 11, 7].map(&mut settle), [Some((3, 3)), Some((4, 6)), Some((1, 2))]);
        assert_eq!(settle(7), None, "a second answer");
        assert!(rest.is_empty());
    }

    #[test]
    fn entries_of_several_streams_have_messages_between_their_own() {
        let mut numbering = Numbering::default();
        for (stream, is_new) in
            [(0, true), (2, true), (0, false), (2, false), (2, false), (0, false)]
        {
            let number = numbering.take();
            numbering.note_in_entry(stream, number, is_new);
        }
        let mut rest = VecDeque::new();
        assert_eq!(numbering.settle(1, 6, &mut rest), None);
        assert_eq!(numbering.settle(2, 5, &mut rest), Some((2, 2)));
        assert_eq!(numbering.settle(0, 6, &mut rest), Some((1, 1)));
        assert_eq!(rest, [(4, 5), (3, 3), (6, 6)]);
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

    #[test]
    fn several_numbers_are_those_of_one_after_the_other() {
        for counts in [[1, 1, 4, 2], [3, 3, 1, 1], [8, 0, 5, 0]] {
            let mut one_by_one = Numbering::new(vec![5, 6, 9], 10);
            let mut together = one_by_one.clone();
            for count in counts {
                let Numbers { again, next } = together.take_all(count);
                let (again, behind) = (again.to_vec(), (count - again.len()) as u64);
                let found: Vec<_> = again.into_iter().chain(next..next + behind).collect();
                let expected: Vec<_> = (0..count).map(|_| one_by_one.take()).collect();
                assert_eq!(found, expected, "{counts:?}");
            }
            assert_eq!(together, one_by_one);
        }
    }
}
