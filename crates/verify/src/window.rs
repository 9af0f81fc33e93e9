//! A sliding window of bits over the latest messages of a publisher.

/// Messages in a row of bits.
pub(super) const ROW: u64 = 64;

/// A bit for each message of a window of rows. The tracker knows the numbers of the rows: a new row replaces the one
/// that left.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    rows: Vec<u64>,
}

impl Bits {
    /// Creates the bits of `rows` rows, a power of two. The system allocates their memory on first use.
    pub(super) fn new(rows: usize) -> Self {
        Self { rows: vec![0; rows] }
    }

    fn slot(&self, row: u64) -> usize {
        usize::try_from(row & (self.rows.len() as u64 - 1)).unwrap_or(0)
    }

    /// Sets the bit of a message and returns its previous value.
    #[inline]
    pub(super) fn set(&mut self, sequence: u64) -> bool {
        let slot = self.slot(sequence / ROW);
        let bit = 1 << (sequence % ROW);
        let was = self.rows[slot] & bit != 0;
        self.rows[slot] |= bit;
        was
    }

    #[inline]
    pub(super) fn has(&self, sequence: u64) -> bool {
        self.rows[self.slot(sequence / ROW)] & 1 << (sequence % ROW) != 0
    }

    pub(super) fn row(&self, row: u64) -> u64 {
        self.rows[self.slot(row)]
    }

    pub(super) fn clear(&mut self, row: u64) {
        let slot = self.slot(row);
        self.rows[slot] = 0;
    }
}

/// Returns the bits of the messages of `row` before `sequence`.
pub(super) fn before(row: u64, sequence: u64) -> u64 {
    let first = row * ROW;
    match sequence.saturating_sub(first) {
        count if count >= ROW => u64::MAX,
        count => (1 << count) - 1,
    }
}

/// Returns the number nearest to `near` whose low bits are `low`.
#[inline]
pub(super) fn unwrap(low: u32, bits: u32, near: u64) -> u64 {
    let span = 1_u64 << bits;
    let ahead = u64::from(low).wrapping_sub(near) & (span - 1);
    let up = near + ahead;
    if ahead >= span / 2 && up >= span { up - span } else { up }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_kept_in_turn() {
        let mut bits = Bits::new(2);
        assert!(!bits.set(5) && bits.set(5) && bits.has(5));
        assert!(!bits.set(64) && !bits.has(65));
        assert_eq!((bits.row(0), bits.row(1)), (1 << 5, 1));
        bits.clear(0);
        assert!(!bits.has(133), "the row that takes the queue of the first is empty");
    }

    #[test]
    fn a_row_has_messages_before_another() {
        for (row, sequence, expected) in
            [(0, 0, 0), (0, 1, 1), (0, 64, u64::MAX), (1, 64, 0), (1, 67, 7), (1, 999, u64::MAX)]
        {
            assert_eq!(before(row, sequence), expected, "{row} {sequence}");
        }
    }

    #[test]
    fn numbers_are_found_by_their_low_bits() {
        fn check(near: u64, expected: u64) {
            let low = u32::try_from(expected & 0xff).unwrap();
            assert_eq!(unwrap(low, 8, near), expected);
        }
        check(0, 0);
        check(0, 200);
        check(1000, 1000);
        check(1000, 1127);
        check(1000, 873);
        check(256, 255);
        check(100, 3);
        assert_eq!(unwrap(u32::MAX, 32, 1 << 32), u64::from(u32::MAX));
    }
}
