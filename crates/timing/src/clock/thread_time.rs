//! CPU time and wait time of the calling thread.

use rabbitscope_machine::thread_wait_nanos;
use rustix::time::{ClockId, clock_gettime};

use super::nanos::Nanos;

/// Returns the CPU time of the calling thread, user and system.
pub fn thread_cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Nanos::SECOND * seconds + Nanos::new(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the time for which the calling thread was runnable but had no CPU; zero if the kernel does not report it.
pub fn thread_wait_time() -> Nanos {
    Nanos::new(thread_wait_nanos().unwrap_or(0))
}
