//! The credit of a subscription: chunks that the broker may send.

use std::collections::VecDeque;

/// The chunks of a subscription that are not processed.
#[derive(Debug, Default)]
pub(super) struct Credit {
    received: u64,
    processed: u64,
    /// Number of received messages at the end of each chunk that is not processed, the oldest first.
    ends: VecDeque<u64>,
}

impl Credit {
    /// Notes a message.
    #[inline]
    pub(super) fn received(&mut self) {
        self.received += 1;
    }

    /// Notes the end of processing of a message. Returns the chunks that are done with it.
    #[inline]
    pub(super) fn processed(&mut self) -> u16 {
        self.processed += 1;
        self.done()
    }

    /// Notes the end of a chunk. Returns the chunks that are done, as far as all their messages are processed.
    #[inline]
    pub(super) fn chunk_ended(&mut self) -> u16 {
        self.ends.push_back(self.received);
        self.done()
    }

    /// Gives up all messages that are not processed. Returns their chunks.
    pub(super) fn give_up(&mut self) -> u16 {
        let chunks = u16::try_from(self.ends.len()).unwrap_or(u16::MAX);
        *self = Self::default();
        chunks
    }

    #[inline]
    fn done(&mut self) -> u16 {
        let mut chunks = 0;
        while self.ends.front().is_some_and(|end| *end <= self.processed) {
            self.ends.pop_front();
            chunks += 1;
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_are_given_up_return() {
        let mut credit = Credit::default();
        for _ in 0..3 {
            credit.received();
            credit.chunk_ended();
        }
        assert_eq!((credit.processed(), credit.give_up()), (1, 2));
        credit.received();
        assert_eq!((credit.chunk_ended(), credit.processed()), (0, 1));
    }

    #[test]
    fn a_chunk_is_done_with_its_last_message() {
        let mut credit = Credit::default();
        assert_eq!(credit.chunk_ended(), 1, "it had no message for this reader");
        (0..3).for_each(|_| credit.received());
        assert_eq!((credit.processed(), credit.chunk_ended()), (0, 0));
        credit.received();
        assert_eq!(credit.chunk_ended(), 0);
        assert_eq!((credit.processed(), credit.processed(), credit.processed()), (0, 1, 1));
    }
}
