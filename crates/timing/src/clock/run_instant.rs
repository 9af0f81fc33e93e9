//! A point in time of a run.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;

/// A point in time of a run, as nanoseconds since the load began. An instant plus a duration is an instant. Two
/// instants have only a distance, [`RunInstant::since`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunInstant(u64);

impl RunInstant {
    /// The beginning of the load.
    pub const START: Self = Self(0);
    /// Later than any other.
    pub const NEVER: Self = Self(u64::MAX);

    /// Creates an instant from nanoseconds since the load began, as a stamp has them.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the beginning of a second, numbered from 0.
    pub fn of_second(second: u32) -> Self {
        Self::START + Nanos::SECOND * u64::from(second)
    }

    /// Returns the number of the second that contains this instant, from 0.
    pub fn second(self) -> u32 {
        u32::try_from(self.0 / Nanos::SECOND.get()).unwrap_or(u32::MAX)
    }

    /// Returns the time since `earlier`; zero if that is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos::new(self.0.saturating_sub(earlier.0))
    }

    /// Returns the last instant before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the nanoseconds since the load began, for stamps and records.
    #[inline]
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

/// Saturates at [`RunInstant::NEVER`].
impl Add<Nanos> for RunInstant {
    type Output = Self;
    #[inline]
    fn add(self, duration: Nanos) -> Self {
        Self(self.0.saturating_add(duration.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_distances() {
        let (first, later) = (RunInstant::of_second(1), RunInstant::of_second(3));
        assert_eq!(later.since(first), Nanos::SECOND * 2);
        assert_eq!(first.since(later), Nanos::ZERO);
        assert_eq!(first + Nanos::SECOND * 2, later);
        assert_eq!((later.second(), later.previous().second()), (3, 2));
        assert_eq!(RunInstant::NEVER + Nanos::SECOND, RunInstant::NEVER);
        assert_eq!(RunInstant::START.previous(), RunInstant::START);
    }
}
