//! Time on the clock of the kernel program.

use std::{sync::LazyLock, time::Duration};

use rabbitscope_machine::monotonic_offset_nanos;

use super::TIME_STEP_NANOS;

/// A point in time of the kernel's monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KernelTime(u64);

/// Difference between the clock of this process and the kernel's, in nanoseconds.
static OFFSET_NANOS: LazyLock<i64> = LazyLock::new(monotonic_offset_nanos);

impl KernelTime {
    /// The clock's time now.
    pub(crate) fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let nanos = now.tv_sec * 1_000_000_000 + now.tv_nsec - *OFFSET_NANOS;
        Self(u64::try_from(nanos).unwrap_or(0))
    }

    pub(crate) const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time since `earlier`, or zero if that is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Index of the time step of this time in a recording that started at `start`.
    pub(crate) fn step_since(self, start: Self) -> u32 {
        u32::try_from(self.0.saturating_sub(start.0) / TIME_STEP_NANOS).unwrap_or(u32::MAX)
    }

    /// Beginning of its time step in a recording that started at `start`.
    pub(crate) fn step_begin(self, start: Self) -> Self {
        Self(start.0 + u64::from(self.step_since(start)) * TIME_STEP_NANOS)
    }
}
