//! The clock of a run.

use std::time::{Duration, Instant};

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

    /// `at` on the clock of the system.
    pub(crate) fn instant(&self, at: RunInstant) -> Instant {
        self.origin + Duration::from(at.since(RunInstant::START))
    }
}
