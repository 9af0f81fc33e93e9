//! The times at which the kernel is asked for sockets.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Shortest interval between two looks at the sockets.
const SHORTEST: Duration = Duration::from_millis(100);
/// Longest interval, so that a capture of some seconds has several looks at tens of thousands of sockets.
const LONGEST: Duration = Duration::from_secs(2);
/// Ratio of an interval to the CPU time of a look: looks take at most a fiftieth of a core. A look at 4,000 sockets takes
/// some 10 ms.
const REST: u32 = 50;

/// Intervals that grow with the cost of a look.
#[derive(Debug)]
pub(super) struct SocketPace {
    start: Instant,
    last: Instant,
    interval: Duration,
    looks: u32,
}

impl SocketPace {
    /// Starts with a look that was just taken.
    pub(super) fn new() -> Self {
        let start = Instant::now();
        Self { start, last: start, interval: SHORTEST, looks: 0 }
    }

    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.interval
    }

    /// Takes a look, and sets the interval until the next one.
    pub(super) fn look<T>(&mut self, look: impl FnOnce() -> T) -> T {
        self.last = Instant::now();
        let before = thread_cpu_time();
        let found = look();
        self.interval = interval(thread_cpu_time().saturating_sub(before));
        self.looks += 1;
        found
    }

    /// Returns the mean time from look to look; the shortest one before the first look.
    pub(super) fn mean_interval(&self) -> Duration {
        match self.looks {
            0 => SHORTEST,
            looks => (self.last - self.start) / looks,
        }
    }
}

fn interval(cost: Duration) -> Duration {
    (cost * REST).clamp(SHORTEST, LONGEST)
}

/// Returns the CPU time of this thread. Unlike the time of day, it leaves out waits for a CPU.
fn thread_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_that_cost_more_are_rarer() {
        let check = |cost_us, expected_ms| {
            let found = interval(Duration::from_micros(cost_us));
            assert_eq!(found, Duration::from_millis(expected_ms), "{cost_us}");
        };
        check(0, 100);
        check(2_000, 100);
        check(10_000, 500);
        check(90_000, 2_000);
    }

    #[test]
    fn a_cheap_look_is_due_after_the_shortest_interval() {
        let mut pace = SocketPace::new();
        assert_eq!(pace.mean_interval(), SHORTEST);
        std::thread::sleep(SHORTEST);
        assert!(pace.is_due());
        assert_eq!(pace.look(|| 7), 7);
        assert!(pace.mean_interval() >= SHORTEST);
    }
}
