//! The clock of a run, in nanoseconds since the load began, and CPU and wait time of the calling thread.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The clock of a run. Copies have the same origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    origin: Instant,
}

impl RunClock {
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Nanoseconds since the run began.
    pub(crate) fn nanos(&self) -> u64 {
        nanos(self.origin.elapsed())
    }

    /// The instant `nanos` after the run began.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        self.origin + Duration::from_nanos(nanos)
    }
}

/// A duration in nanoseconds, at most 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time of the calling thread in nanoseconds, user and system.
pub(crate) fn thread_cpu_nanos() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * SECOND + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Time for which the calling thread was runnable but had no CPU, in nanoseconds; 0 where the
/// kernel does not report it.
pub(crate) fn thread_wait_nanos() -> u64 {
    // Time on a CPU, time waiting for one, number of turns: Documentation/scheduler/sched-stats.rst
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    figures.split_whitespace().nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
}
