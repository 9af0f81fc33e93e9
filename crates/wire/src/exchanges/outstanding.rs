//! Unsettled messages, numbered in the order in which they are sent.

use std::collections::VecDeque;

use super::latency::{Ending, Latency, Mark};
use crate::report::Unmatched;

/// Maximum of messages that are kept at once. At 24 bytes each they take 1.5 MiB.
const OPEN_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Numbered {
    number: u64,
    mark: Mark,
    is_open: bool,
}

/// Unsettled messages, in ascending order of number.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    messages: VecDeque<Numbered>,
    open: u64,
    most_open: u64,
    /// True if the frames that settle them cannot be read.
    is_deaf: bool,
    unmatched: Unmatched,
}

impl Outstanding {
    /// Records a sent message. If too many are open, the oldest is dropped.
    #[inline]
    pub(super) fn push(&mut self, number: u64, mark: Mark) {
        if self.is_deaf {
            self.unmatched.open += 1;
            return;
        }
        if self.messages.back().is_some_and(|last| last.number >= number) {
            // Numbers restart, as in a channel that was opened again.
            self.forget();
        }
        if self.messages.len() >= OPEN_MAX {
            self.drop_oldest();
        }
        self.messages.push_back(Numbered { number, mark, is_open: true });
        self.open += 1;
        self.most_open = self.most_open.max(self.open);
    }

    fn drop_oldest(&mut self) {
        if self.messages.pop_front().is_some_and(|oldest| oldest.is_open) {
            self.open -= 1;
            self.unmatched.left_out += 1;
        }
        self.trim();
    }

    /// Settles one message, or counts it as unknown.
    pub(super) fn settle(&mut self, number: u64, ending: &Ending, sink: &mut impl FnMut(&Latency)) {
        let at = self.position(number);
        match at.and_then(|index| self.messages.get_mut(index)).filter(|message| message.is_open) {
            None => self.unmatched.unknown_begin += 1,
            Some(message) => {
                message.is_open = false;
                sink(&ending.since(message.mark));
                self.open -= 1;
                self.trim();
            }
        }
    }

    /// Settles all messages up to a number. If there are none, counts an unknown one.
    pub(super) fn settle_up_to(
        &mut self,
        number: u64,
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        let before = self.open;
        while self.messages.front().is_some_and(|first| first.number <= number) {
            if let Some(message) = self.messages.pop_front().filter(|message| message.is_open) {
                sink(&ending.since(message.mark));
                self.open -= 1;
            }
        }
        self.trim();
        if self.open == before {
            self.unmatched.unknown_begin += 1;
        }
    }

    /// Settles all messages from `first` to `last`. If there are none, counts an unknown one.
    pub(super) fn settle_range(
        &mut self,
        (first, last): (u64, u64),
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        let before = self.open;
        let at = self.messages.partition_point(|message| message.number < first);
        for message in self.messages.range_mut(at..).take_while(|message| message.number <= last) {
            if message.is_open {
                message.is_open = false;
                sink(&ending.since(message.mark));
                self.open -= 1;
            }
        }
        self.trim();
        if self.open == before {
            self.unmatched.unknown_begin += 1;
        }
    }

    /// Settles one message, or all up to a number, at an unknown time.
    pub(super) fn drop_settled(&mut self, number: u64, up_to: Option<u64>) {
        let (first, last) = up_to.map_or((number, number), |last| (0, last));
        let at = self.messages.partition_point(|message| message.number < first);
        for message in self.messages.range_mut(at..).take_while(|message| message.number <= last) {
            self.open -= u64::from(std::mem::take(&mut message.is_open));
        }
        self.unmatched.unknown_begin += 1;
        self.trim();
    }

    /// Returns the index of a message. Numbers usually have no gaps, so the index follows from the number.
    fn position(&self, number: u64) -> Option<usize> {
        let first = self.messages.front()?.number;
        let near = usize::try_from(number.checked_sub(first)?).unwrap_or(usize::MAX);
        if self.messages.get(near).is_some_and(|message| message.number == number) {
            return Some(near);
        }
        self.messages.binary_search_by_key(&number, |message| message.number).ok()
    }

    fn trim(&mut self) {
        while self.messages.front().is_some_and(|first| !first.is_open) {
            self.messages.pop_front();
        }
    }

    /// Drops the open messages, because no visible frame will settle them.
    pub(super) fn forget(&mut self) {
        self.messages.clear();
        self.unmatched.open += core::mem::take(&mut self.open);
    }

    /// Records that the frames that settle messages cannot be read, for open messages and for those to come.
    pub(super) fn deafen(&mut self) {
        self.forget();
        self.is_deaf = true;
    }

    /// Records that the frames that settle messages can be read again.
    pub(super) fn listen(&mut self) {
        self.is_deaf = false;
    }

    pub(super) fn count_unknown_number(&mut self) {
        self.unmatched.unknown_number += 1;
    }

    /// Returns whether no further message can be kept.
    pub(super) const fn is_full(&self) -> bool {
        self.open >= OPEN_MAX as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Returns the largest number of messages that were open at once.
    pub(super) const fn most_open(&self) -> u64 {
        self.most_open
    }

    /// Returns the unmatched messages, including those that are open now.
    pub(super) const fn unmatched(&self) -> Unmatched {
        Unmatched { open: self.unmatched.open + self.open, ..self.unmatched }
    }
}
