//! Counts of events in windows of time, and their index of dispersion: variance divided by mean.
//!
//! A timer has an index near 0, independent arrivals (a Poisson process) have 1, bursts have more. The index depends on
//! the window, so there are three.
//!
//! The first window begins before the first event and does not count. Otherwise events with a period would fall on the
//! ends of windows, and the last bit of their times would decide which one has them.

use serde::{Deserialize, Serialize};

/// Lengths of the windows in nanoseconds.
const WIDTHS: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];

/// Part of the first window before the first event, in thousandths: no simple fraction.
const AHEAD: u64 = 382;

/// Numbers of complete windows, of events in them, and of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) windows: f64,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
}

impl Tally {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            windows: self.windows + other.windows,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }
}

/// Counts of events over time, in windows of three lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CountsOverTime {
    windows: [Windows; 3],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Windows {
    /// Start of the current window in nanoseconds; none before the first event.
    start: Option<u64>,
    /// True after the first window.
    is_counting: bool,
    current: u64,
    complete: u64,
    sum: f64,
    squares: f64,
}

impl CountsOverTime {
    /// Adds an event at a time in nanoseconds. Times do not decrease. Returns the windows that this completed.
    pub(crate) fn add(&mut self, nanos: u64) -> [Tally; 3] {
        let mut completed = [Tally::default(); 3];
        for (place, (windows, width)) in self.windows.iter_mut().zip(WIDTHS).enumerate() {
            completed[place] = windows.add(nanos, width);
        }
        completed
    }

    /// Returns the index of dispersion for each length of windows; none with fewer than ten complete windows.
    pub(crate) fn dispersion(&self) -> [Option<f64>; 3] {
        self.windows.map(|windows| windows.dispersion())
    }
}

impl Windows {
    fn add(&mut self, nanos: u64, width: u64) -> Tally {
        let mut completed = Tally::default();
        let start = *self.start.get_or_insert(nanos.saturating_sub(width / 1_000 * AHEAD));
        let passed = nanos.saturating_sub(start) / width;
        if passed > 0 {
            if self.is_counting {
                let count = self.current as f64;
                self.sum += count;
                self.squares += count * count;
                self.complete += passed;
                completed = Tally { windows: passed as f64, sum: count, squares: count * count };
            }
            self.is_counting = true;
            self.current = 0;
            self.start = Some(start + passed * width);
        }
        self.current += 1;
        completed
    }

    fn dispersion(&self) -> Option<f64> {
        if self.complete < 10 || self.sum <= 0.0 {
            return None;
        }
        let count = self.complete as f64;
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0) * count / (count - 1.0);
        Some(variance / mean)
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::Random;

    use super::*;
    use crate::tests::exponential;

    fn dispersion(times: impl Iterator<Item = u64>) -> [Option<f64>; 3] {
        let mut counts = CountsOverTime::default();
        for time in times {
            counts.add(time);
        }
        counts.dispersion()
    }

    #[test]
    fn a_timer_an_independent_source_and_bursts_differ() {
        let timer = dispersion((0..3_000).map(|number| number * 10_000_000 + 7));
        assert!(timer[2].unwrap() < 0.01, "{timer:?}");
        let mut random = Random::new(3);
        let mut time = 0;
        let independent = dispersion((0..3_000).map(|_| {
            time += exponential(&mut random, 10_000_000);
            time
        }));
        assert!(independent[1].unwrap() > 0.7 && independent[1].unwrap() < 1.3, "{independent:?}");
        let bursts = dispersion((0..3_000).map(|number| number / 50 * 500_000_000 + number % 50));
        assert!(bursts[1].unwrap() > 30.0, "{bursts:?}");
        assert_eq!(dispersion([1, 2, 3].into_iter()), [None; 3]);
    }
}
