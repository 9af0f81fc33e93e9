//! The age of a run that other processes have begun, bounded by this process's clocks.

use std::time::{Duration, Instant, SystemTime};

use rabbitscope_measurements::RunAge;
use rabbitscope_timing::{Nanos, RunInstant};

/// Largest lead of another process's clock over this one at the start. Chosen: far more than the uncertainty that pings
/// leave.
const MAX_AHEAD: Duration = Duration::from_secs(10);

/// Largest drift between two clocks, as one part in so many. It is twice the 500 parts per million that a kernel allows
/// for a disciplined clock (`adjtimex`): one clock may be fast and the other slow.
const MAX_DRIFT: u32 = 1_000;

/// The start of a run, by both clocks.
#[derive(Clone, Copy)]
pub(super) struct RunTime {
    began: Instant,
    /// Advances while this machine sleeps, as the clock of a remote process does.
    wall: SystemTime,
    age: RunAge,
}

impl RunTime {
    pub(super) fn new(began: Instant, age: RunAge) -> Self {
        Self { began, wall: SystemTime::now(), age }
    }

    /// Lower bound of the time of the run.
    pub(super) fn at_least(&self, now: Instant) -> Duration {
        self.age.at_least.saturating_add(now.saturating_duration_since(self.began))
    }

    /// Upper bound of the time of the run that any process's clock can show.
    pub(super) fn latest(&self, now: Instant) -> RunInstant {
        let slept = SystemTime::now().duration_since(self.wall).unwrap_or_default();
        self.latest_after(now.saturating_duration_since(self.began).max(slept))
    }

    fn latest_after(&self, passed: Duration) -> RunInstant {
        let time = self.age.at_most.saturating_add(passed);
        let latest = time.saturating_add(time / MAX_DRIFT).saturating_add(MAX_AHEAD);
        RunInstant::START + Nanos::from(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_differ_a_little() {
        let time = |at_most| {
            let age = RunAge { at_least: Duration::ZERO, at_most };
            RunTime::new(Instant::now(), age)
        };
        let check = |at_most, passed, expected_millis: u64| {
            let latest =
                time(Duration::from_secs(at_most)).latest_after(Duration::from_secs(passed));
            assert_eq!(latest.nanos(), expected_millis * 1_000_000);
        };
        check(0, 0, 10_000);
        check(0, 1_000, 1_011_000);
        check(2_000, 1_000, 3_013_000);
        assert_eq!(time(Duration::MAX).latest_after(Duration::ZERO), RunInstant::NEVER);
    }
}
