//! A limit on the scheduler time that readings may take ahead of the node's ordinary processes.
//!
//! A reading needs some milliseconds of work. At normal priority it would wait behind every runnable process of a busy
//! node. It therefore runs at high priority while this budget lasts.

use std::time::{Duration, Instant};

/// Scheduler time at high priority in each second: a fifth of one scheduler.
const TIME_PER_SECOND: Duration = Duration::from_millis(200);

/// Maximum debt. A reading may run at high priority while less than one second's share is owed, so that ordinary
/// readings follow a single long one.
const MAX_DEBT: Duration = Duration::from_secs(1);

/// A token bucket: filled by time, emptied by readings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PriorityBudget {
    /// Time at which the budget has paid for all readings so far.
    paid: Option<Instant>,
}

impl PriorityBudget {
    /// Returns whether the next reading may run at high priority.
    pub(super) fn allows(&self, now: Instant) -> bool {
        self.paid.is_none_or(|paid| paid < now + MAX_DEBT)
    }

    /// Charges a reading that ran at high priority.
    pub(super) fn charge(&mut self, now: Instant, took: Duration) {
        let shares = took.as_secs_f64() / TIME_PER_SECOND.as_secs_f64();
        let from = self.paid.map_or(now, |paid| paid.max(now));
        self.paid = Some(from + Duration::from_secs_f64(shares));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_have_priority_until_their_share_is_spent() {
        fn check(readings: u32, took_ms: u64, every_ms: u64, expected: u32) {
            let start = Instant::now();
            let mut budget = PriorityBudget::default();
            let mut allowed = 0;
            for reading in 0..readings {
                let now = start + Duration::from_millis(every_ms) * reading;
                if budget.allows(now) {
                    allowed += 1;
                    budget.charge(now, Duration::from_millis(took_ms));
                }
            }
            assert_eq!(
                allowed, expected,
                "{readings} readings of {took_ms} ms, every {every_ms} ms"
            );
        }
        check(100, 10, 50, 100);
        check(100, 10, 1000, 100);
        // At twice the share, every other reading has priority after a while.
        check(1000, 20, 50, 510);
        check(3, 10_000, 10, 1);
    }
}
