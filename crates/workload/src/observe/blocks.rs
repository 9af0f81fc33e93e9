//! Equal parts of the observed time, so that a source can be compared with itself.
//!
//! Their length is not known in advance. It doubles, and neighbours are joined, whenever there are too many.

use crate::figures::{Sparse, Tally};

/// Maximum of blocks. After the first seconds there are at least half as many.
const BLOCKS_MAX: usize = 8;
/// First length in nanoseconds.
const FIRST_LENGTH: u64 = 1_000_000_000;

/// Figures that can be joined.
pub(crate) trait Join: Default {
    fn join(&mut self, other: Self);
}

/// Figures by block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks<T>(Vec<T>);

impl<T: Join> Blocks<T> {
    /// Returns the figures of a block.
    pub(super) fn at(&mut self, number: usize) -> &mut T {
        if number >= self.0.len() {
            self.0.resize_with(number + 1, T::default);
        }
        &mut self.0[number]
    }

    /// Joins each two neighbours.
    pub(super) fn halve(&mut self) {
        let mut halved: Vec<T> = Vec::new();
        for (number, block) in core::mem::take(&mut self.0).into_iter().enumerate() {
            match halved.last_mut() {
                Some(last) if number % 2 == 1 => last.join(block),
                _ => halved.push(block),
            }
        }
        self.0 = halved;
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }
}

/// The blocks of the observed time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockClock {
    start: Option<u64>,
    /// Length of a block in nanoseconds.
    pub(crate) length: u64,
}

impl Default for BlockClock {
    fn default() -> Self {
        Self { start: None, length: FIRST_LENGTH }
    }
}

impl BlockClock {
    /// Returns the number of the block of a time; none if blocks have to be joined first.
    pub(super) fn number(&mut self, nanos: u64) -> Option<usize> {
        let start = *self.start.get_or_insert(nanos);
        let number = usize::try_from(nanos.saturating_sub(start) / self.length).ok()?;
        (number < BLOCKS_MAX).then_some(number)
    }

    pub(super) const fn double(&mut self) {
        self.length = self.length.saturating_mul(2);
    }
}

/// Publishes of a block.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct PublishBlock {
    pub(crate) messages: u64,
    pub(crate) sizes: Sparse,
    /// Nanoseconds between messages of a client.
    pub(crate) gaps: Sparse,
    /// Messages of a client in windows of 10 ms, 100 ms and 1 s.
    pub(crate) counts: [Tally; 3],
}

/// Deliveries of a block.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ReadBlock {
    pub(crate) messages: u64,
    /// Nanoseconds from delivery to acknowledgement.
    pub(crate) raw: Sparse,
    /// Nanoseconds of processing of clients that take one message after the other.
    pub(crate) service: Sparse,
    /// Nanoseconds from an answer to the next question.
    pub(crate) polls: Sparse,
    /// Unsettled messages of a consumer right after each delivery.
    pub(crate) unsettled: Sparse,
}

impl Join for PublishBlock {
    fn join(&mut self, other: Self) {
        self.messages += other.messages;
        self.sizes.merge(&other.sizes);
        self.gaps.merge(&other.gaps);
        for (tally, more) in self.counts.iter_mut().zip(other.counts) {
            *tally = tally.plus(more);
        }
    }
}

impl Join for ReadBlock {
    fn join(&mut self, other: Self) {
        self.messages += other.messages;
        self.raw.merge(&other.raw);
        self.service.merge(&other.service);
        self.polls.merge(&other.polls);
        self.unsettled.merge(&other.unsettled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_double_and_keep_their_figures() {
        let mut clock = BlockClock::default();
        let mut blocks: Blocks<ReadBlock> = Blocks::default();
        for second in 0..60 {
            let number = loop {
                if let Some(number) = clock.number(7 + second * FIRST_LENGTH) {
                    break number;
                }
                clock.double();
                blocks.halve();
            };
            blocks.at(number).messages += 1;
        }
        let counts: Vec<u64> = blocks.as_slice().iter().map(|block| block.messages).collect();
        assert_eq!(counts, [8, 8, 8, 8, 8, 8, 8, 4]);
        assert_eq!(clock.length, 8 * FIRST_LENGTH);
    }
}
