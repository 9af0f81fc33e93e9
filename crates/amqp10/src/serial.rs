//! Serial numbers of RFC 1982: 32 bits that pass from the largest to 0.

/// A serial number. The specification calls it `sequence-no`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Serial(pub(crate) u32);

impl Serial {
    /// Returns the number that is `count` behind this one.
    #[inline]
    pub(crate) fn plus(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// Returns the numbers from `earlier` up to this one, without it; 0 if `earlier` is behind it.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> u32 {
        let distance = self.0.wrapping_sub(earlier.0);
        if distance > u32::MAX / 2 { 0 } else { distance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_pass_through_zero() {
        let start = Serial(u32::MAX - 3);
        assert_eq!(start.plus(6), Serial(2));
        assert_eq!((Serial(2).since(start), start.since(Serial(2))), (6, 0));
        assert_eq!((start.since(start), Serial(5).since(Serial(4))), (0, 1));
    }

    #[test]
    fn half_of_all_numbers_are_ahead() {
        let most = u32::MAX / 2;
        assert_eq!(Serial(most).since(Serial(0)), most);
        assert_eq!(Serial(most + 1).since(Serial(0)), 0);
    }
}
