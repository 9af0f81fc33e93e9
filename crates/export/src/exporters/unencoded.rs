//! How much waits for the thread that encodes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Windows and snapshots that wait to be encoded. All nodes end their windows at once: with two events of each of 64
/// nodes there are 128.
pub(super) const MAX_JOBS: usize = 160;

/// Samples of all windows that wait. 40 CPUs that are busy for 10 s have 40,000 at 99 Hz; each takes about a
/// kilobyte of memory.
const MAX_SAMPLES: usize = 60_000;

/// What waits. One hands over, another thread takes.
#[derive(Debug, Default)]
pub(super) struct Unencoded {
    samples: AtomicUsize,
    is_over: AtomicBool,
}

impl Unencoded {
    /// Whether there is room for so many more, which is taken. Where nothing waits there is room for any window.
    pub(super) fn take_room(&self, samples: usize) -> bool {
        let waiting = self.samples.load(Ordering::Relaxed);
        let fits = waiting.saturating_add(samples) <= MAX_SAMPLES;
        let has_room = waiting == 0 || samples == 0 || fits;
        if has_room {
            self.samples.fetch_add(samples, Ordering::Relaxed);
        }
        has_room
    }

    /// So many are encoded, or were not taken after all.
    pub(super) fn give_back(&self, samples: usize) {
        self.samples.fetch_sub(samples, Ordering::Relaxed);
    }

    /// What still waits is not encoded any more.
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
