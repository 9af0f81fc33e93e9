//! A figure of two profiles.

use std::ops::AddAssign;

/// A figure of both profiles, in the unit of their event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// Value in the first profile.
    pub before: u64,
    /// Value in the second profile.
    pub after: u64,
}

impl Sides {
    /// Returns the change of the share, −1 to 1. `totals` are the weights of the whole profiles.
    pub fn change(self, totals: Self) -> f64 {
        crate::share(self.after, totals.after) - crate::share(self.before, totals.before)
    }
}

impl AddAssign for Sides {
    fn add_assign(&mut self, other: Self) {
        self.before += other.before;
        self.after += other.after;
    }
}
