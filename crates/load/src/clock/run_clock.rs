//! The clock of a run.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::run_instant::RunInstant;

/// The clock of a run, which starts when the load begins. Copies have the same origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    origin: Instant,
}

impl RunClock {
    pub(crate) fn start() -> Self {
        Self::with_origin(Instant::now())
    }

    /// A clock of which the origin is given, as all processes of a fleet start at the same time. Before the
    /// origin it stands still.
    pub(crate) fn with_origin(origin: Instant) -> Self {
        Self { origin }
    }

    /// The time that it is.
    pub(crate) fn now(&self) -> RunInstant {
        RunInstant::START + self.origin.elapsed().into()
    }

    /// Returns at the origin, or as soon after it as the system wakes a thread. Waiting awake would be no better: threads
    /// that share CPUs would keep each other from the start.
    pub(crate) fn wait_for_origin(&self) {
        loop {
            let left = self.origin.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left);
        }
    }

    /// `at` on the clock of the system.
    pub(crate) fn instant(&self, at: RunInstant) -> Instant {
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
        clock.wait_for_origin();
        assert!(Instant::now() >= clock.origin);
        clock.wait_for_origin();
    }
}
