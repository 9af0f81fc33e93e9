//! The interval between two fetches, from the pace at which rings filled.

use std::time::{Duration, Instant};

/// Pace of the fetches. [`FetchPace::fetched`] notes each fetch of all rings.
pub(super) struct FetchPace {
    last: Instant,
    /// Time in which the fullest ring becomes half full at the latest pace.
    half_full_after: Duration,
}

impl FetchPace {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, half_full_after: Duration::MAX }
    }

    /// Notes a fetch of all rings. `fill` is the full share of the fullest ring.
    pub(super) fn fetched(&mut self, now: Instant, fill: f64) {
        let elapsed = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        // The time is not finite if nothing was recorded.
        self.half_full_after =
            Duration::try_from_secs_f64(elapsed * 0.5 / fill).unwrap_or(Duration::MAX);
    }

    /// The time until the next fetch: `usual`, or less if ticks are larger than usual.
    pub(super) fn interval(&self, usual: Duration) -> Duration {
        usual.min(self.half_full_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_emptied_when_they_are_half_full_at_the_latest() {
        let (begin, second) = (Instant::now(), Duration::from_secs(1));
        let usual = 5 * second;
        let mut pace = FetchPace::new(begin);
        assert_eq!(pace.interval(usual), usual);
        for (elapsed, fill, expected) in [
            (5, 0.0, usual),
            (5, 0.25, usual),
            (5, 1.0, second * 5 / 2),
            (2, 0.5, 2 * second),
            (2, 0.125, usual),
            // Two fetches at the same moment.
            (0, 0.0, usual),
        ] {
            let now = pace.last + elapsed * second;
            pace.fetched(now, fill);
            assert_eq!(pace.interval(usual), expected, "{elapsed} s, {fill}");
        }
    }
}
