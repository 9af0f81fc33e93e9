//! A limit on the share of the node's time that endless readings may take.

use std::time::{Duration, Instant};

/// Pause after a reading as a multiple of its duration: one percent of one scheduler.
const PAUSE_FACTOR: u32 = 100;

/// Longest pause, regardless of the duration of the reading.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// Time at which the next reading may begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadingBudget {
    next: Option<Instant>,
}

impl ReadingBudget {
    /// Returns whether a reading may begin.
    pub(crate) fn allows(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Charges a reading that ended now.
    pub(crate) fn charge(&mut self, now: Instant, took: Duration) {
        self.next = Some(now + took.saturating_mul(PAUSE_FACTOR).min(MAX_PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_hundred_times_as_long_as_the_reading() {
        let (now, mut budget) = (Instant::now(), ReadingBudget::default());
        assert!(budget.allows(now));
        budget.charge(now, Duration::from_millis(20));
        assert!(!budget.allows(now + Duration::from_millis(1999)));
        assert!(budget.allows(now + Duration::from_secs(2)));
        budget.charge(now, Duration::from_secs(3600));
        assert!(budget.allows(now + MAX_PAUSE));
    }
}
