//! Bounds on the jobs that wait for the encoder.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Limit of waiting windows and snapshots. The windows of all nodes end together: with two events for each of 64
/// nodes there are 128.
pub(super) const MAX_JOBS: usize = 160;

/// Limit of samples in waiting windows. 40 CPUs that are busy for 10 s have 40,000 at 99 Hz; each takes about 1 kB of
/// memory.
const MAX_SAMPLES: usize = 60_000;

/// Counters of the waiting jobs. One thread adds jobs, another removes them.
#[derive(Debug, Default)]
pub(super) struct Unencoded {
    samples: AtomicUsize,
    is_over: AtomicBool,
}

impl Unencoded {
    /// Takes room for these samples, and returns true if there is enough. If nothing waits, any window fits.
    pub(super) fn take_room(&self, samples: usize) -> bool {
        let waiting = self.samples.load(Ordering::Relaxed);
        let fits = waiting.saturating_add(samples) <= MAX_SAMPLES;
        let has_room = waiting == 0 || samples == 0 || fits;
        if has_room {
            self.samples.fetch_add(samples, Ordering::Relaxed);
        }
        has_room
    }

    /// Returns the room of samples that were encoded or not accepted.
    pub(super) fn give_back(&self, samples: usize) {
        self.samples.fetch_sub(samples, Ordering::Relaxed);
    }

    /// Discards the jobs that still wait.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_one_window_always_fits() {
        let unencoded = Unencoded::default();
        assert!(unencoded.take_room(2 * MAX_SAMPLES), "nothing else waits");
        assert!(!unencoded.take_room(1) && unencoded.take_room(0), "a snapshot has none");
        unencoded.give_back(2 * MAX_SAMPLES);
        assert!(unencoded.take_room(MAX_SAMPLES - 1) && unencoded.take_room(1));
        assert!(!unencoded.take_room(1));
    }
}
