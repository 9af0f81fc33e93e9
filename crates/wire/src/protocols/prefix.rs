//! Application values among the bytes of a frame, of which only the beginning may have arrived.
//!
//! A frame may be split over packets, and each packet is written before the next one arrives. So values are reported as
//! soon as their length is known, before any byte of them. No value is reported twice (`framer.rs`).

use core::ops::Range;

/// Limit on nested values; no application nests deeper.
const DEPTH_MAX: u32 = 24;

/// The reason why reading ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The rest has not arrived yet.
    Incomplete,
    /// The bytes violate the format.
    Malformed,
}

pub(super) type Step<T = ()> = Result<T, Stop>;

/// Reads the beginning of some bytes and reports which of them are values.
pub(super) struct Prefix<'a, 't> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    depth: u32,
    tell: &'t mut dyn FnMut(Range<usize>),
}

impl<'a, 't> Prefix<'a, 't> {
    /// Reads `bytes`, the beginning of `wanted` requested bytes, which begin `whole` bytes. Bytes that are malformed or
    /// unreadable are reported up to the end.
    pub(super) fn read(
        bytes: &'a [u8],
        (wanted, whole): (usize, usize),
        tell: &'t mut dyn FnMut(Range<usize>),
        values: impl FnOnce(&mut Self) -> Step,
    ) {
        let mut prefix = Self { bytes, at: 0, end: whole, depth: 0, tell };
        let is_lost = match values(&mut prefix) {
            Ok(()) => false,
            Err(Stop::Malformed) => true,
            Err(Stop::Incomplete) => bytes.len() == wanted,
        };
        if is_lost && prefix.at < whole {
            (prefix.tell)(prefix.at..whole);
        }
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    fn require(&self, bytes: usize) -> Step {
        if bytes <= self.end - self.at { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// Skips bytes.
    pub(super) fn keep(&mut self, bytes: usize) -> Step {
        self.require(bytes)?;
        self.at += bytes;
        Ok(())
    }

    /// Processes the next bytes as a value, which is kept or reported.
    pub(super) fn value(&mut self, bytes: usize, is_kept: bool) -> Step {
        self.require(bytes)?;
        if !is_kept && bytes > 0 {
            (self.tell)(self.at..self.at + bytes);
        }
        self.at += bytes;
        Ok(())
    }

    /// Returns the next bytes.
    pub(super) fn bytes(&mut self, bytes: usize) -> Step<&'a [u8]> {
        self.require(bytes)?;
        let read = self.bytes.get(self.at..self.at + bytes).ok_or(Stop::Incomplete)?;
        self.at += bytes;
        Ok(read)
    }

    /// Reads a big-endian number of at most four bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Step<usize> {
        Ok(self.bytes(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Reads values within the next bytes, and skips the rest of these.
    pub(super) fn within(&mut self, bytes: usize, values: impl FnOnce(&mut Self) -> Step) -> Step {
        self.require(bytes)?;
        let end = core::mem::replace(&mut self.end, self.at + bytes);
        let read = self.nested(values);
        let inner = core::mem::replace(&mut self.end, end);
        read?;
        self.at = inner;
        Ok(())
    }

    /// Reads nested values that have no length of their own.
    pub(super) fn nested(&mut self, values: impl FnOnce(&mut Self) -> Step) -> Step {
        if self.depth == DEPTH_MAX {
            return Err(Stop::Malformed);
        }
        self.depth += 1;
        let read = values(self);
        self.depth -= 1;
        read
    }

    /// Processes all remaining bytes as values.
    pub(super) fn values_to_end(&mut self, are_kept: bool) -> Step {
        self.value(self.end - self.at, are_kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_told_before_it_has_come() {
        fn check(bytes: &[u8], whole: usize, expected: &[(usize, usize)]) {
            let mut told = Vec::new();
            let tell = &mut |range: Range<usize>| told.push((range.start, range.end));
            Prefix::read(bytes, (6, whole), tell, |prefix| {
                while !prefix.is_at_end() {
                    let length = prefix.number(1)?;
                    prefix.value(length, false)?;
                }
                Ok(())
            });
            assert_eq!(told, expected, "{bytes:?} of {whole}");
        }
        check(&[2, 7, 7, 1, 7], 5, &[(1, 3), (4, 5)]);
        check(&[2], 5, &[(1, 3)]);
        check(&[2, 7, 7], 5, &[(1, 3)]);
        check(&[], 5, &[]);
        check(&[9, 7, 7], 5, &[(1, 5)]);
        check(&[2, 7, 7, 3, 7, 7], 12, &[(1, 3), (4, 7), (7, 12)]);
    }
}
