//! The messages that the broker has not confirmed, by sequence number.

use std::{collections::VecDeque, ops::Range};

use thiserror::Error;

/// A confirm for a message that was not sent or is already confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the broker confirmed message {tag}, which is not outstanding")]
pub struct UnknownConfirm {
    /// Sequence number in the confirm.
    pub tag: u64,
}

/// Most messages of a block: bits of [`Block::left`].
const BLOCK: u32 = u64::BITS;

/// Unconfirmed messages of a channel in confirm mode. Messages that are sent together share an entry of the caller.
/// Sequence numbers start with 1, like the broker's.
///
/// Up to 64 messages of an entry are a block, which settles as a whole if they are confirmed together. Confirms come in
/// any order and grouping. The cost of one is that of the blocks that it covers; a confirm that is not for the oldest
/// messages also searches its block.
#[derive(Clone, Debug)]
pub struct ConfirmRing<T> {
    /// The messages in their order. The first block has an outstanding message.
    blocks: VecDeque<Block<T>>,
    /// Sequence number of the next message.
    next: u64,
    outstanding: usize,
}

/// Successive messages of an entry.
#[derive(Clone, Debug)]
struct Block<T> {
    /// Sequence number of the first message.
    first: u64,
    /// One bit for each outstanding message, that of the first message lowest.
    left: u64,
    count: u32,
    /// Place of the first message among those of the entry.
    offset: u32,
    entry: T,
}

impl<T> Default for ConfirmRing<T> {
    fn default() -> Self {
        Self { blocks: VecDeque::new(), next: 1, outstanding: 0 }
    }
}

impl<T: Clone> ConfirmRing<T> {
    /// Adds the message that is sent now, and returns its sequence number.
    #[inline]
    pub fn push(&mut self, entry: T) -> u64 {
        self.push_block(entry, 0, 1);
        self.next - 1
    }

    /// Adds `count` messages that are sent now, and have this entry in common.
    #[inline]
    pub fn push_all(&mut self, entry: &T, count: u32) {
        for offset in (0..count).step_by(BLOCK as usize) {
            self.push_block(entry.clone(), offset, (count - offset).min(BLOCK));
        }
    }

    #[inline]
    fn push_block(&mut self, entry: T, offset: u32, count: u32) {
        let left = u64::MAX >> (BLOCK - count);
        self.blocks.push_back(Block { first: self.next, left, count, offset, entry });
        self.next += u64::from(count);
        self.outstanding += count as usize;
    }
}

impl<T> ConfirmRing<T> {
    /// Returns the number of unconfirmed messages.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Returns the entry of the oldest unconfirmed message.
    pub fn oldest(&self) -> Option<&T> {
        self.blocks.front().map(|block| &block.entry)
    }

    /// Confirms `tag`, or with `multiple` everything up to `tag`, or everything if `tag` is 0. Passes the entries to
    /// `settled`, oldest first, with the places of the messages among those of their entry.
    pub fn settle(
        &mut self,
        tag: u64,
        multiple: bool,
        settled: impl FnMut(&T, Range<u32>),
    ) -> Result<(), UnknownConfirm> {
        if !multiple {
            return self.settle_range(tag, tag, settled);
        }
        let last = if tag == 0 { self.next - 1 } else { tag };
        self.settle_within(0, last, settled)
    }

    /// Confirms the messages from `first` to `last`, which must be outstanding. Passes the entries to `settled`, like
    /// [`ConfirmRing::settle`].
    pub fn settle_range(
        &mut self,
        first: u64,
        last: u64,
        mut settled: impl FnMut(&T, Range<u32>),
    ) -> Result<(), UnknownConfirm> {
        if last >= self.next {
            return Err(UnknownConfirm { tag: last });
        }
        if self.blocks.front().is_none_or(|block| first < block.first) {
            return Err(UnknownConfirm { tag: first });
        }
        let mut outcome = Ok(());
        for block in self.blocks.range_mut(self.index(first)..) {
            let asked = block.bits(first, last);
            if asked == 0 {
                break;
            }
            let missing = asked & !block.left;
            let known = asked & (missing & missing.wrapping_neg()).wrapping_sub(1);
            self.outstanding -= block.settle(known, &mut settled);
            if missing != 0 {
                outcome =
                    Err(UnknownConfirm { tag: block.first + u64::from(missing.trailing_zeros()) });
                break;
            }
        }
        self.drop_settled();
        outcome
    }

    /// Confirms the messages from `first` to `last` that are outstanding; the others are confirmed already. Passes the
    /// entries to `settled`, like [`ConfirmRing::settle`].
    pub fn settle_within(
        &mut self,
        first: u64,
        last: u64,
        mut settled: impl FnMut(&T, Range<u32>),
    ) -> Result<(), UnknownConfirm> {
        if last >= self.next {
            return Err(UnknownConfirm { tag: last });
        }
        for block in self.blocks.range_mut(self.index(first)..) {
            let asked = block.bits(first, last);
            if asked == 0 {
                break;
            }
            self.outstanding -= block.settle(asked & block.left, &mut settled);
        }
        self.drop_settled();
        Ok(())
    }

    /// Returns the index of the block with a message, or of the first block for an older message. Most confirms are for
    /// the oldest messages.
    #[inline]
    fn index(&self, tag: u64) -> usize {
        let is_oldest = self.blocks.front().is_none_or(|block| tag < block.end());
        if is_oldest {
            return 0;
        }
        self.blocks.partition_point(|block| block.end() <= tag)
    }

    #[inline]
    fn drop_settled(&mut self) {
        while self.blocks.front().is_some_and(|block| block.left == 0) {
            self.blocks.pop_front();
        }
    }
}

impl<T> Block<T> {
    /// Sequence number behind the last message.
    #[inline]
    fn end(&self) -> u64 {
        self.first + u64::from(self.count)
    }

    /// Returns the bits of the messages from `first` to `last`; none if no message is among them.
    #[inline]
    fn bits(&self, first: u64, last: u64) -> u64 {
        let (from, to) = (first.max(self.first), (last + 1).min(self.end()));
        let Some(count @ 1..) = to.checked_sub(from) else { return 0 };
        u64::MAX >> (u64::from(BLOCK) - count) << (from - self.first)
    }

    /// Settles outstanding messages, and passes each run of them to `settled`. Returns their number.
    #[inline]
    fn settle(&mut self, messages: u64, settled: &mut impl FnMut(&T, Range<u32>)) -> usize {
        self.left &= !messages;
        let mut rest = messages;
        while rest != 0 {
            let start = rest.trailing_zeros();
            let end = start + (!(rest >> start)).trailing_zeros();
            settled(&self.entry, self.offset + start..self.offset + end);
            rest &= u64::MAX.checked_shl(end).unwrap_or(0);
        }
        messages.count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settled messages: their entries, and their places added.
    fn settle(ring: &mut ConfirmRing<u64>, tag: u64, multiple: bool) -> Result<Vec<u64>, u64> {
        let mut settled = Vec::new();
        let outcome = ring.settle(tag, multiple, |entry, places| {
            settled.extend(places.map(|place| entry + u64::from(place)));
        });
        outcome.map(|()| settled).map_err(|error| error.tag)
    }

    #[test]
    fn single_multiple_and_out_of_order() {
        let mut ring = ConfirmRing::default();
        for tag in 1..=10 {
            assert_eq!(ring.push(tag * 100), tag);
        }
        assert_eq!(settle(&mut ring, 3, false), Ok(vec![300]));
        assert_eq!(settle(&mut ring, 3, false), Err(3));
        assert_eq!(settle(&mut ring, 1, false), Ok(vec![100]));
        assert_eq!(settle(&mut ring, 5, true), Ok(vec![200, 400, 500]));
        assert_eq!(settle(&mut ring, 5, true), Ok(vec![]));
        assert_eq!(settle(&mut ring, 11, true), Err(11));
        assert_eq!(settle(&mut ring, 11, false), Err(11));
        assert_eq!(settle(&mut ring, 0, false), Err(0));
        assert_eq!(ring.outstanding(), 5);
        assert_eq!(settle(&mut ring, 0, true), Ok(vec![600, 700, 800, 900, 1000]));
        assert_eq!(ring.push(1), 11);
    }

    #[test]
    fn ranges_settle_in_any_order() {
        let mut ring = ConfirmRing::default();
        (1..=10).for_each(|tag: u64| assert_eq!(ring.push(tag), tag));
        let mut settle = |first, last| {
            let mut settled = Vec::new();
            let outcome = ring.settle_range(first, last, |entry, _| settled.push(*entry));
            (outcome.map_err(|error| error.tag), settled)
        };
        assert_eq!(settle(2, 4), (Ok(()), vec![2, 3, 4]));
        assert_eq!(settle(1, 1), (Ok(()), vec![1]));
        assert_eq!(settle(4, 5), (Err(4), vec![]));
        assert_eq!(settle(8, 11), (Err(11), vec![]));
        assert_eq!(settle(5, 10), (Ok(()), (5..=10).collect()));
        assert_eq!((ring.outstanding(), ring.push(11)), (0, 11));
    }

    #[test]
    fn ranges_may_have_settled_messages() {
        let mut ring = ConfirmRing::default();
        (1..=10).for_each(|tag: u64| assert_eq!(ring.push(tag), tag));
        let mut settle = |first, last| {
            let mut settled = Vec::new();
            let outcome = ring.settle_within(first, last, |entry, _| settled.push(*entry));
            (outcome.map_err(|error| error.tag), settled)
        };
        assert_eq!(settle(3, 4), (Ok(()), vec![3, 4]));
        assert_eq!(settle(1, 5), (Ok(()), vec![1, 2, 5]));
        assert_eq!(settle(1, 5), (Ok(()), vec![]));
        assert_eq!(settle(4, 7), (Ok(()), vec![6, 7]));
        assert_eq!(settle(9, 11), (Err(11), vec![]));
        assert_eq!(settle(9, 10), (Ok(()), vec![9, 10]));
        assert_eq!((ring.outstanding(), ring.oldest()), (1, Some(&8)));
    }

    /// Covers the bounds of blocks of 64 messages.
    #[test]
    fn messages_of_an_entry_settle_together_or_apart() {
        let mut ring = ConfirmRing::default();
        ring.push_all(&"a", 200);
        assert_eq!(ring.push("b"), 201);
        let mut runs = Vec::new();
        let mut settle = |ring: &mut ConfirmRing<_>, first, last| {
            runs.clear();
            let outcome = ring.settle_within(first, last, |entry, places| {
                runs.push((*entry, places.start, places.end));
            });
            outcome.map(|()| runs.clone()).map_err(|error| error.tag)
        };
        assert_eq!(settle(&mut ring, 70, 70), Ok(vec![("a", 69, 70)]));
        let apart = vec![("a", 63, 64), ("a", 64, 69), ("a", 70, 80)];
        assert_eq!(settle(&mut ring, 64, 80), Ok(apart));
        assert_eq!(settle(&mut ring, 128, 128), Ok(vec![("a", 127, 128)]));
        assert_eq!((ring.outstanding(), ring.oldest()), (201 - 18, Some(&"a")));
        assert_eq!(ring.settle_range(1, 64, |_, _| {}), Err(UnknownConfirm { tag: 64 }));
        assert_eq!(ring.outstanding(), 201 - 18 - 63, "those before it are confirmed");
        assert_eq!(ring.settle_range(129, 200, |_, _| {}), Ok(()));
        assert_eq!(settle(&mut ring, 1, 201), Ok(vec![("a", 80, 127), ("b", 0, 1)]));
        assert_eq!((ring.outstanding(), ring.oldest()), (0, None));
    }

    #[test]
    fn each_message_settles_once_in_any_order() {
        let mut random = 5_u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % limit
        };
        let mut ring = ConfirmRing::default();
        let mut seen = vec![0_u32; 20_001];
        let mut sent = 0;
        while sent < 20_000 || ring.outstanding() > 0 {
            if sent < 20_000 && below(2) == 0 {
                let count = if below(8) == 0 { 1 + below(150).min(19_999 - sent) } else { 1 };
                match count {
                    1 => assert_eq!(ring.push(sent + 1), sent + 1),
                    _ => ring.push_all(&(sent + 1), u32::try_from(count).unwrap()),
                }
                sent += count;
            } else if sent > 0 {
                let tag = sent - below(sent.min(400));
                let multiple = below(4) == 0;
                let mut tags = settle(&mut ring, tag, multiple).unwrap_or_default();
                if sent == 20_000 {
                    tags.extend(settle(&mut ring, 0, true).unwrap());
                }
                for tag in tags {
                    seen[usize::try_from(tag).unwrap()] += 1;
                }
            }
        }
        assert!(seen[1..].iter().all(|times| *times == 1));
    }
}
