//! Random numbers (splitmix64), often at the edge of what a case can hold.

/// A source of random parts of cases.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    /// Returns a count: often small, sometimes huge.
    pub(super) fn count(&mut self) -> u64 {
        match self.below(12) {
            0 => 0,
            1 => u64::MAX,
            2..6 => self.below(40),
            6..9 => self.below(5_000),
            _ => self.below(10_000_000),
        }
    }

    /// Returns a share, sometimes an impossible one.
    pub(super) fn share(&mut self) -> f64 {
        match self.below(25) {
            0 => f64::NAN,
            1 => -0.1,
            2 => 1.5,
            3 => 0.0,
            4 => 1.0,
            _ => self.below(1_001) as f64 / 1_000.0,
        }
    }

    /// Returns a rate, sometimes an impossible one.
    pub(super) fn rate(&mut self) -> f64 {
        match self.below(25) {
            0 => f64::INFINITY,
            1 => f64::NAN,
            2 => -3.0,
            3..8 => 0.0,
            8..16 => self.below(100) as f64 / 7.0,
            _ => self.below(50_000) as f64,
        }
    }

    pub(super) fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(5) > 0).then(|| value(self))
    }
}
