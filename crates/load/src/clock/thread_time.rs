//! CPU time and wait time of the calling thread.

use rustix::time::{ClockId, clock_gettime};

use super::nanos::Nanos;

/// Returns the CPU time of the calling thread, user and system.
pub(crate) fn thread_cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Nanos::SECOND * seconds + Nanos::new(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the time for which the calling thread was runnable but had no CPU; zero if the kernel does not report it.
pub(crate) fn thread_wait_time() -> Nanos {
    // Time on a CPU, time waiting for one, number of turns: Documentation/scheduler/sched-stats.rst
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = figures.split_whitespace().nth(1).and_then(|nanos| nanos.parse().ok());
    Nanos::new(nanos.unwrap_or(0))
}
