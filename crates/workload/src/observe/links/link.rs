//! A publisher or a reader while it is observed.

use std::collections::VecDeque;

use super::Address;

/// Maximum of chunks of a reader that are followed.
const CHUNKS_MAX: usize = 4_096;
/// Number of times that credit comes back until the chunks of a reader that was joined in its middle are known.
const ALIGNING: u32 = 20;

/// A publisher or a reader.
#[derive(Debug)]
pub(in super::super) struct Link {
    pub(in super::super) address: Address,
    /// True if a stream remembers the numbers of the publisher.
    pub(in super::super) has_reference: bool,
    /// Chunks whose credit the reader has not given back: time in nanoseconds, and messages.
    chunks: VecDeque<(u64, u32)>,
    /// Absent if the chunks are known: those that were there at the begin of the capture count as well.
    aligning: Option<Aligning>,
}

/// The search for the number of chunks whose credit came back unseen. Of a reader that is sometimes idle, these are the
/// ones that it never gives back.
#[derive(Clone, Copy, Debug)]
struct Aligning {
    /// Fewest chunks that were left, and the number of times that credit came back.
    least: usize,
    times: u32,
}

const FROM_THE_MIDDLE: Aligning = Aligning { least: usize::MAX, times: 0 };

impl Link {
    pub(in super::super) fn new(address: Address, has_reference: bool) -> Self {
        Self { address, has_reference, chunks: VecDeque::new(), aligning: None }
    }

    /// Creates a publisher or a reader whose begin was not seen.
    pub(in super::super) fn joined() -> Self {
        Self { aligning: Some(FROM_THE_MIDDLE), ..Self::new(Address::Unknown, false) }
    }

    /// Adds a chunk. Returns the number of chunks that the reader holds, if it is known.
    pub(in super::super) fn hold(&mut self, now: u64, messages: u32) -> Option<u64> {
        if self.chunks.len() >= CHUNKS_MAX {
            self.forget();
        }
        self.chunks.push_back((now, messages));
        self.aligning.is_none().then_some(self.chunks.len() as u64)
    }

    /// Takes the oldest chunks, for which the reader gives back credit; none while they are unknown.
    pub(in super::super) fn take(&mut self, chunks: u32) -> Vec<(u64, u32)> {
        let count = self.chunks.len().min(chunks as usize);
        let taken = self.chunks.drain(..count).collect();
        let Some(Aligning { least, times }) = self.aligning else { return taken };
        let (least, times) = (least.min(self.chunks.len()), times + 1);
        self.aligning = (times < ALIGNING).then_some(Aligning { least, times });
        if self.aligning.is_none() {
            self.chunks.drain(..least);
        }
        Vec::new()
    }

    pub(in super::super) fn forget(&mut self) {
        self.chunks.clear();
        self.aligning = Some(FROM_THE_MIDDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_known_once_credit_has_come_back_often() {
        let mut link = Link::joined();
        // The credit of the first chunk came back unseen.
        link.hold(0, 4);
        for round in 1..=u64::from(ALIGNING) {
            assert_eq!(link.hold(round, 4), None);
            assert_eq!(link.take(1), []);
        }
        assert_eq!(link.hold(100, 7), Some(1));
        assert_eq!(link.take(1), [(100, 7)]);
        // From the begin on, they are known.
        let mut link = Link::new(Address::Unknown, false);
        assert_eq!((link.hold(1, 2), link.hold(2, 3)), (Some(1), Some(2)));
        assert_eq!(link.take(5), [(1, 2), (2, 3)]);
        link.forget();
        assert_eq!(link.hold(3, 4), None);
    }
}
