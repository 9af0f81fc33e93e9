//! The messages that the broker has not confirmed, by sequence number.

use std::collections::VecDeque;

use thiserror::Error;

/// A confirm for a message that was not sent or is already confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the broker confirmed message {tag}, which is not outstanding")]
pub struct UnknownConfirm {
    /// Sequence number in the confirm.
    pub tag: u64,
}

/// Unconfirmed messages of a channel in confirm mode, each with an entry of the caller. Sequence numbers start with
/// 1, like the broker's. Every message costs one push and one pop, in any order and grouping of the confirms.
#[derive(Clone, Debug)]
pub struct ConfirmRing<T> {
    /// Entries from `first` on; `None` for a confirmed message. The first entry is always outstanding.
    entries: VecDeque<Option<T>>,
    /// Sequence number of the first entry.
    first: u64,
    outstanding: usize,
}

impl<T> Default for ConfirmRing<T> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), first: 1, outstanding: 0 }
    }
}

impl<T> ConfirmRing<T> {
    /// Adds the message that is sent now, and returns its sequence number.
    #[inline]
    pub fn push(&mut self, entry: T) -> u64 {
        self.entries.push_back(Some(entry));
        self.outstanding += 1;
        self.first + self.entries.len() as u64 - 1
    }

    /// Returns the number of unconfirmed messages.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Returns the entry of the oldest unconfirmed message.
    pub fn oldest(&self) -> Option<&T> {
        self.entries.front().and_then(Option::as_ref)
    }

    /// Confirms `tag`, or with `multiple` everything up to `tag`, or everything if `tag` is 0. Passes the entries to
    /// `settled`, oldest first.
    pub fn settle(
        &mut self,
        tag: u64,
        multiple: bool,
        mut settled: impl FnMut(T),
    ) -> Result<(), UnknownConfirm> {
        let next = self.first + self.entries.len() as u64;
        if multiple {
            let last = if tag == 0 { next - 1 } else { tag };
            if last >= next {
                return Err(UnknownConfirm { tag });
            }
            // If everything up to the tag is already confirmed, the count is 0.
            let count = (last + 1).saturating_sub(self.first);
            for _ in 0..count {
                if let Some(entry) = self.entries.pop_front().flatten() {
                    self.outstanding -= 1;
                    settled(entry);
                }
            }
            self.first += count;
        } else {
            let index = tag.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
            let slot = index.and_then(|index| self.entries.get_mut(index));
            let entry = slot.and_then(Option::take).ok_or(UnknownConfirm { tag })?;
            self.outstanding -= 1;
            settled(entry);
        }
        self.drop_settled();
        Ok(())
    }

    /// Confirms the messages from `first` to `last`, which must be outstanding. Passes the entries to `settled`, oldest
    /// first.
    pub fn settle_range(
        &mut self,
        first: u64,
        last: u64,
        mut settled: impl FnMut(T),
    ) -> Result<(), UnknownConfirm> {
        let next = self.first + self.entries.len() as u64;
        if last >= next {
            return Err(UnknownConfirm { tag: last });
        }
        for tag in first..=last {
            let index = tag.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
            let slot = index.and_then(|index| self.entries.get_mut(index));
            let entry = slot.and_then(Option::take).ok_or(UnknownConfirm { tag })?;
            self.outstanding -= 1;
            settled(entry);
        }
        self.drop_settled();
        Ok(())
    }

    /// Confirms the messages from `first` to `last` that are outstanding; the others are confirmed already. Passes the
    /// entries to `settled`, oldest first.
    pub fn settle_within(
        &mut self,
        first: u64,
        last: u64,
        mut settled: impl FnMut(T),
    ) -> Result<(), UnknownConfirm> {
        let next = self.first + self.entries.len() as u64;
        if last >= next {
            return Err(UnknownConfirm { tag: last });
        }
        let from = usize::try_from(first.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let to = usize::try_from((last + 1).saturating_sub(self.first)).unwrap_or(usize::MAX);
        for entry in self.entries.range_mut(from.min(to)..to).filter_map(Option::take) {
            self.outstanding -= 1;
            settled(entry);
        }
        self.drop_settled();
        Ok(())
    }

    #[inline]
    fn drop_settled(&mut self) {
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(ring: &mut ConfirmRing<u64>, tag: u64, multiple: bool) -> Result<Vec<u64>, u64> {
        let mut settled = Vec::new();
        let outcome = ring.settle(tag, multiple, |entry| settled.push(entry));
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
            let outcome = ring.settle_range(first, last, |entry| settled.push(entry));
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
            let outcome = ring.settle_within(first, last, |entry| settled.push(entry));
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
                sent += 1;
                assert_eq!(ring.push(sent), sent);
            } else if sent > 0 {
                let tag = sent - below(sent.min(64));
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
