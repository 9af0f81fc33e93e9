//! The clock of a run.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::run_instant::RunInstant;

/// Interval at which a thread that waits for the origin checks whether the run is over. Chosen: people do not notice
/// it.
const ABORT_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The clock of a run, which starts when the load begins. Copies have the same origin.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    origin: Instant,
}

impl RunClock {
    /// Starts a clock now.
    pub fn start() -> Self {
        Self::with_origin(Instant::now())
    }

    /// Creates a clock with a given origin, because all processes of a fleet start at the same time. Before the origin
    /// it stands still.
    pub fn with_origin(origin: Instant) -> Self {
        Self { origin }
    }

    /// Returns the current time of the run.
    pub fn now(&self) -> RunInstant {
        RunInstant::START + self.origin.elapsed().into()
    }

    /// Waits for the origin. Returns as soon after it as the system wakes the thread, or soon after `abort` becomes
    /// true. Busy waiting would be no better: threads that share CPUs would delay each other's start.
    pub fn wait_for_origin(&self, abort: &AtomicBool) {
        loop {
            let left = self.origin.saturating_duration_since(Instant::now());
            if left.is_zero() || abort.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(left.min(ABORT_POLL_INTERVAL));
        }
    }

    /// Returns `at` on the clock of the system.
    pub fn instant(&self, at: RunInstant) -> Instant {
        self.origin + Duration::from(at.since(RunInstant::START))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_waited_for() {
        let lead = Duration::from_millis(30);
        let clock = RunClock::with_origin(Instant::now() + lead);
        assert_eq!(clock.now(), RunInstant::START, "it stands still before");
        clock.wait_for_origin(&AtomicBool::new(false));
        assert!(Instant::now() >= clock.origin);
        clock.wait_for_origin(&AtomicBool::new(false));
    }

    #[test]
    fn a_run_that_is_over_is_not_waited_for() {
        let clock = RunClock::with_origin(Instant::now() + Duration::from_secs(60));
        let (abort, began) = (AtomicBool::new(false), Instant::now());
        thread::scope(|scope| {
            scope.spawn(|| clock.wait_for_origin(&abort));
            abort.store(true, Ordering::Relaxed);
        });
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
