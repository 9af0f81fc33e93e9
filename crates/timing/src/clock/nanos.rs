//! A duration in 8 bytes.
//!
//! [`Duration`] has seconds and a remainder in 16 bytes, and each operation carries from one to the other. Every
//! message takes several of these times. The hot path therefore uses one number.

use std::{
    iter::Sum,
    ops::{Add, AddAssign, Div, Mul, Rem, Sub},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// A duration in nanoseconds, at most 584 years. Longer sums saturate at that maximum, and differences at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(u64);

impl Nanos {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// A millisecond.
    pub const MILLISECOND: Self = Self(1_000_000);
    /// A second.
    pub const SECOND: Self = Self(1_000_000_000);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a duration in nanoseconds.
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns a duration in microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1000)
    }

    /// Nanoseconds, for histograms, records and stamps.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the duration in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::SECOND.0 as f64
    }

    /// Returns `self` − `other`, for constants.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns `self` + `other`, for constants.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self.minus(other)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Nanos {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Div for Nanos {
    type Output = u64;
    fn div(self, other: Self) -> u64 {
        self.0 / other.0
    }
}

impl Rem for Nanos {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_keep_within_the_range() {
        let second = Nanos::SECOND;
        assert_eq!(second / 4 + second / 4 * 3, second);
        assert_eq!(second - second * 2, Nanos::ZERO);
        assert_eq!(Nanos::MAX + second, Nanos::MAX);
        assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
        assert_eq!(Duration::from(Nanos::from_micros(3)), Duration::from_micros(3));
        assert_eq!((second / Nanos::MILLISECOND, second % Nanos::new(7)), (1000, Nanos::new(6)));
    }
}
