//! The clock of a load under faults, and its end.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Interval between checks for the end of the load.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The clock of a started load.
pub(super) struct LoadTime<'a> {
    pub(super) start: Instant,
    /// Time at which publishers stop. All faults are undone then, so that the remaining messages are delivered.
    pub(super) length: Option<Duration>,
    pub(super) has_ended: &'a AtomicBool,
    pub(super) stop: &'a AtomicBool,
}

impl LoadTime<'_> {
    pub(super) fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sleeps until this time of the load. Returns false if the load ended before.
    pub(super) fn wait_until(&self, at: Duration) -> bool {
        loop {
            let now = self.start.elapsed();
            if self.is_over(now) {
                return false;
            }
            if now >= at {
                return true;
            }
            thread::sleep(POLL_INTERVAL.min(at.saturating_sub(now)));
        }
    }

    fn is_over(&self, now: Duration) -> bool {
        self.length.is_some_and(|length| now >= length)
            || self.has_ended.load(Ordering::Relaxed)
            || self.stop.load(Ordering::Relaxed)
    }
}
