//! How often rings have to be emptied, from how they filled.

use std::time::{Duration, Instant};

/// To be told of each time that all rings are emptied.
pub(super) struct FetchPace {
    last: Instant,
    /// After what time the fullest ring is half full, at the pace of the last time.
    half_full_after: Duration,
}

impl FetchPace {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, half_full_after: Duration::MAX }
    }

    /// Rings were emptied; `fill` is which part of the fullest was full.
    pub(super) fn fetched(&mut self, now: Instant, fill: f64) {
        let elapsed = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        // Nothing recorded: a time that is not finite.
        self.half_full_after =
            Duration::try_from_secs_f64(elapsed * 0.5 / fill).unwrap_or(Duration::MAX);
    }

    /// When to empty them again: after `usual`, or sooner where ticks are larger than usual.
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
            // Emptied twice in one moment.
            (0, 0.0, usual),
        ] {
            let now = pace.last + elapsed * second;
            pace.fetched(now, fill);
            assert_eq!(pace.interval(usual), expected, "{elapsed} s, {fill}");
        }
    }
}
