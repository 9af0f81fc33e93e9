//! Unconfirmed publishes of a channel.
//!
//! Publishes have no number on the wire. After `confirm.select` the first one is 1. In the middle of a connection the
//! numbers are unknown: but a confirm proves that at least as many messages were published as its number says. Its lead
//! over the counted publishes is highest whenever nothing is unconfirmed. A lead that comes back many times, and is
//! never exceeded, is taken for that.

use std::collections::VecDeque;

/// Number of confirms with the highest lead that fix the numbers.
const HITS: u32 = 20;
/// Maximum of unconfirmed messages that are followed.
const OPEN_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// Highest lead of a confirm over the counted publishes, the number of confirms that had it, and the lowest lead.
    Unknown { lead: i128, hits: u32, least: i128 },
    /// The numbers are known.
    Known,
}

/// Unconfirmed publishes.
#[derive(Clone, Debug)]
pub(super) struct Confirms {
    numbering: Numbering,
    /// Number of the last publish; while numbers are unknown, the count of publishes.
    published: u64,
    /// For each number above `confirmed`: whether it is unconfirmed.
    open: VecDeque<bool>,
    confirmed: u64,
    unconfirmed: u32,
    /// True if no message from before the capture can be unconfirmed.
    is_sure: bool,
}

impl Default for Confirms {
    fn default() -> Self {
        Self {
            numbering: Numbering::Unknown { lead: i128::MIN, hits: 0, least: i128::MAX },
            published: 0,
            open: VecDeque::new(),
            confirmed: 0,
            unconfirmed: 0,
            is_sure: true,
        }
    }
}

impl Confirms {
    /// Creates the state of a channel whose next publish is the first with a number.
    pub(super) fn new_select() -> Self {
        Self { numbering: Numbering::Known, ..Self::default() }
    }

    /// Records that frames were missed: the numbers are unknown from here on.
    pub(super) fn miss(&mut self) {
        *self = Self::default();
    }

    pub(super) fn publish(&mut self) {
        self.published += 1;
        if self.numbering != Numbering::Known {
            return;
        }
        if self.open.len() >= OPEN_MAX {
            return self.miss();
        }
        self.open.push_back(true);
        self.unconfirmed += 1;
    }

    /// Records a publish whose number is known. A number comes again if the message does. Until all messages that were
    /// seen are confirmed, others may be unconfirmed.
    pub(super) fn publish_number(&mut self, number: u64) {
        let next = self.confirmed + self.open.len() as u64 + 1;
        let is_known = self.numbering == Numbering::Known;
        if is_known && number < next {
            return;
        }
        if !is_known || number > next || self.open.len() >= OPEN_MAX {
            let is_sure = is_known && number == next && self.unconfirmed == 0;
            *self = Self { confirmed: number - 1, is_sure, ..Self::new_select() };
        }
        self.published = number;
        self.open.push_back(true);
        self.unconfirmed += 1;
    }

    /// Records a confirm, positive or negative.
    pub(super) fn confirm(&mut self, tag: u64, multiple: bool) {
        match &mut self.numbering {
            Numbering::Known => self.settle(tag, multiple),
            Numbering::Unknown { lead, hits, least } => {
                let ahead = i128::from(tag) - i128::from(self.published);
                *least = ahead.min(*least);
                match ahead.cmp(lead) {
                    core::cmp::Ordering::Less => {}
                    core::cmp::Ordering::Equal => *hits += 1,
                    core::cmp::Ordering::Greater => (*lead, *hits) = (ahead, 1),
                }
                if *hits >= HITS && ahead == *lead {
                    self.numbering = Numbering::Known;
                    (self.published, self.confirmed) = (tag, tag);
                    self.open.clear();
                    self.unconfirmed = 0;
                }
            }
        }
    }

    fn settle(&mut self, tag: u64, multiple: bool) {
        if tag > self.published {
            // The numbers were wrong.
            return self.miss();
        }
        let Some(place) = tag.checked_sub(self.confirmed + 1) else {
            // Number 0 with `multiple` confirms all.
            if multiple && tag == 0 {
                self.confirmed = self.published;
                self.open.clear();
                self.unconfirmed = 0;
            }
            return;
        };
        let last = usize::try_from(place).unwrap_or(usize::MAX);
        let first = if multiple { 0 } else { last };
        for is_open in self.open.iter_mut().take(last.saturating_add(1)).skip(first) {
            self.unconfirmed -= u32::from(core::mem::take(is_open));
        }
        self.is_sure |= self.unconfirmed == 0;
        while self.open.front() == Some(&false) {
            self.open.pop_front();
            self.confirmed += 1;
        }
    }

    /// Returns a lower bound of the largest number of unconfirmed messages while numbers are unknown: confirms came
    /// with leads that differ by so much.
    pub(super) fn at_least(&self) -> u32 {
        match self.numbering {
            Numbering::Unknown { lead, least, .. } if least <= lead => {
                u32::try_from(lead - least + 1).unwrap_or(u32::MAX)
            }
            Numbering::Known if !self.is_sure => self.unconfirmed,
            _ => 0,
        }
    }

    /// Returns the number of unconfirmed messages, if numbers are known, and none can be unconfirmed from before.
    pub(super) fn unconfirmed(&self) -> Option<u32> {
        (self.numbering == Numbering::Known && self.is_sure).then_some(self.unconfirmed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirms_settle_one_or_several() {
        let mut confirms = Confirms::new_select();
        (0..5).for_each(|_| confirms.publish());
        assert_eq!(confirms.unconfirmed(), Some(5));
        confirms.confirm(3, false);
        assert_eq!(confirms.unconfirmed(), Some(4));
        confirms.confirm(4, true);
        assert_eq!(confirms.unconfirmed(), Some(1));
        confirms.confirm(4, false);
        assert_eq!(confirms.unconfirmed(), Some(1));
        confirms.confirm(0, true);
        assert_eq!(confirms.unconfirmed(), Some(0));
    }

    #[test]
    fn numbers_are_found_where_nothing_is_unconfirmed_again_and_again() {
        // Joined after 1,000 publishes, two of them unconfirmed; then a window of 3.
        let (mut confirms, mut number) = (Confirms::default(), 1_000_u64);
        confirms.confirm(999, false);
        confirms.confirm(1_000, false);
        for _ in 0..=HITS {
            (0..3).for_each(|_| confirms.publish());
            number += 3;
            assert!(confirms.unconfirmed().is_none_or(|unconfirmed| unconfirmed == 3));
            confirms.confirm(number, true);
        }
        assert_eq!(confirms.unconfirmed(), Some(0));
        confirms.publish();
        assert_eq!(confirms.unconfirmed(), Some(1));
        // A confirm of a number that was not published shows that the numbers were wrong.
        confirms.confirm(number + 5, false);
        assert_eq!(confirms.unconfirmed(), None);
    }

    #[test]
    fn known_numbers_count_once_all_that_was_seen_is_confirmed() {
        // Joined in the middle; the wire counts from 1 on.
        let mut confirms = Confirms::default();
        confirms.publish_number(1);
        confirms.publish_number(2);
        assert_eq!((confirms.unconfirmed(), confirms.at_least()), (None, 2));
        // A repeated message is the same.
        confirms.publish_number(2);
        confirms.confirm(2, false);
        confirms.confirm(1, false);
        assert_eq!(confirms.unconfirmed(), Some(0));
        confirms.publish_number(3);
        assert_eq!(confirms.unconfirmed(), Some(1));
        // After missed packets, numbers go on.
        confirms.miss();
        confirms.confirm(3, false);
        confirms.publish_number(7);
        assert_eq!(confirms.unconfirmed(), None);
        confirms.confirm(7, false);
        assert_eq!(confirms.unconfirmed(), Some(0));
        // From the beginning on all numbers are known.
        let mut confirms = Confirms::new_select();
        confirms.publish_number(1);
        assert_eq!(confirms.unconfirmed(), Some(1));
    }
}
