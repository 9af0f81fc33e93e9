//! How much of a node's time may be taken before its ordinary processes.
//!
//! A look at a busy node takes some milliseconds of work; in turn with everybody else it waits behind
//! all that is runnable. So it goes first, but not for longer than the others can spare.

use std::time::{Duration, Instant};

/// Of each second, on one scheduler.
const MOST_PER_SECOND: Duration = Duration::from_millis(200);

/// Fills with time and is emptied by looks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Urgency {
    /// When it will be, or was, paid back.
    paid: Option<Instant>,
}

impl Urgency {
    /// Whether the next look may go first.
    pub(super) fn may(&self, now: Instant) -> bool {
        // Up to a second's share may be owed.
        self.paid.is_none_or(|paid| paid < now + Duration::from_secs(1))
    }

    /// A look that went first took so long.
    pub(super) fn spent(&mut self, now: Instant, took: Duration) {
        let shares = took.as_secs_f64() / MOST_PER_SECOND.as_secs_f64();
        let from = self.paid.map_or(now, |paid| paid.max(now));
        self.paid = Some(from + Duration::from_secs_f64(shares));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_go_first_until_their_share_is_spent() {
        fn check(looks: u32, took_ms: u64, every_ms: u64, expected: u32) {
            let start = Instant::now();
            let mut urgency = Urgency::default();
            let mut first = 0;
            for look in 0..looks {
                let now = start + Duration::from_millis(every_ms) * look;
                if urgency.may(now) {
                    first += 1;
                    urgency.spent(now, Duration::from_millis(took_ms));
                }
            }
            assert_eq!(first, expected, "{looks} looks of {took_ms} ms, every {every_ms} ms");
        }
        check(100, 10, 50, 100);
        check(100, 10, 1000, 100);
        // Twice the share: after a while every other look.
        check(1000, 20, 50, 510);
        check(3, 10_000, 10, 1);
    }
}
