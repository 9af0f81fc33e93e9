//! The time of a load under faults, and whether it is over.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How often the end of the load is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time of a load that has begun.
pub(super) struct LoadTime<'a> {
    pub(super) start: Instant,
    /// After this time publishers stop: everything is undone, so that what is left is delivered.
    pub(super) length: Option<Duration>,
    pub(super) has_ended: &'a AtomicBool,
    pub(super) stop: &'a AtomicBool,
}

impl LoadTime<'_> {
    pub(super) fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sleeps until this time of the load. False: the load ended before.
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
