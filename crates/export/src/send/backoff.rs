//! Pauses after failures. They grow, and have jitter so that senders do not act in step.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Pauses between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryDelays {
    /// Pause after the first failure.
    pub first: Duration,
    /// Longest pause; each is twice as long as the one before.
    pub max: Duration,
}

impl Default for RetryDelays {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), max: Duration::from_secs(30) }
    }
}

/// Upper limit of a delay that a backend asks for (`Retry-After`).
const MAX_ASKED: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct Backoff {
    delays: RetryDelays,
    failures: u32,
    random: RandomState,
}

impl Backoff {
    pub(super) fn new(delays: RetryDelays) -> Self {
        Self { delays, failures: 0, random: RandomState::new() }
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Returns the pause after another failure: half to all of the delay, and at least the backend's request.
    pub(super) fn pause(&mut self, asked: Option<Duration>) -> Duration {
        let delay = self.delays.first.saturating_mul(1 << self.failures.min(20));
        self.failures = self.failures.saturating_add(1);
        let delay = delay.min(self.delays.max);
        let share = self.random.hash_one(self.failures) % 1024;
        let jittered = delay / 2 + delay / 2 * u32::try_from(share).unwrap_or(0) / 1024;
        jittered.max(asked.unwrap_or_default().min(MAX_ASKED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let mut backoff = Backoff::new(RetryDelays::default());
        for delay in [1, 2, 4, 8, 16, 30, 30, 30] {
            let delay = Duration::from_secs(delay);
            let pause = backoff.pause(None);
            assert!(pause >= delay / 2 && pause <= delay, "{pause:?} of {delay:?}");
        }
        assert_eq!(backoff.pause(Some(Duration::from_secs(60))), Duration::from_secs(60));
        assert_eq!(backoff.pause(Some(Duration::from_secs(9999))), MAX_ASKED);
        backoff.reset();
        assert!(backoff.pause(None) <= Duration::from_secs(1));
    }
}
