//! Conversion of sequence numbers, which begin anywhere and wrap after 4 GiB, to places in a direction.

/// Position in bytes from the first byte that was seen, which is at 0. Earlier bytes are at negative places.
pub(super) type Place = i64;

/// The largest possible window (RFC 7323, section 2.3). Nothing can be further behind, or acknowledged further ahead.
pub(super) const MAX_WINDOW_BYTES: i64 = 1 << 30;

/// The beginning of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Sequence number of place 0.
    pub(super) sequence: u32,
}

impl Origin {
    /// Returns the place of a sequence number. It lies at most a window behind `newest`, and up to 3 GiB ahead of it: a
    /// capture may have lost that much.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sequence numbers are places modulo 2^32, so that this is meant"
    )]
    pub(super) const fn place(self, sequence: u32, newest: Place) -> Place {
        let middle = newest + MAX_WINDOW_BYTES;
        let sequence_of_middle = self.sequence.wrapping_add(middle as u32);
        middle + sequence.wrapping_sub(sequence_of_middle).cast_signed() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_on_where_sequence_numbers_start_again() {
        let origin = Origin { sequence: u32::MAX - 9 };
        let check = |sequence, newest, expected| {
            assert_eq!(origin.place(sequence, newest), expected);
        };
        check(u32::MAX - 9, 0, 0);
        check(u32::MAX, 0, 9);
        check(0, 0, 10);
        check(90, 10, 100);
        check(90, (1 << 32) + 50, (1 << 32) + 100);
        check(u32::MAX - 10, 0, -1);
        // Bounds on both sides.
        let behind = origin.sequence.wrapping_sub(1 << 30);
        check(behind, 0, -(1 << 30));
        check(behind.wrapping_sub(1), 0, (3 << 30) - 1);
    }
}
