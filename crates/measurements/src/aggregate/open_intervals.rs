//! Intervals that some workers have not reported yet, and these workers.

use std::collections::{BTreeMap, btree_map::Entry};

use super::interval::Interval;
use crate::report::IntervalReport;

/// The position of an interval in a run: whether it belongs to the drain, and its second.
pub(super) type Turn = (bool, u32);

/// A position after all intervals.
const END: Turn = (true, u32::MAX);

/// The intervals of a run that are not complete.
pub(super) struct OpenIntervals {
    open: BTreeMap<Turn, Interval>,
    /// The interval that each worker reports next.
    frontier: Vec<Turn>,
    kib: usize,
}

/// The intervals that wait for workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Number of intervals.
    pub intervals: usize,
    /// Memory of their histograms.
    pub kib: usize,
    /// The workers that hold them up.
    pub slowest: Vec<usize>,
}

impl OpenIntervals {
    pub(super) fn new(workers: usize) -> Self {
        Self { open: BTreeMap::new(), frontier: vec![(false, 0); workers], kib: 0 }
    }

    pub(super) fn add(&mut self, part: IntervalReport) {
        let turn = (part.draining, part.second);
        self.frontier[part.worker] = if part.is_last { END } else { (turn.0, turn.1 + 1) };
        match self.open.entry(turn) {
            Entry::Occupied(mut interval) => {
                let interval = interval.get_mut();
                self.kib -= interval.measured.kib();
                interval.add(&part);
                self.kib += interval.measured.kib();
            }
            Entry::Vacant(free) => {
                self.kib += free.insert(Interval::from_report(part)).measured.kib();
            }
        }
    }

    /// Drops a worker that sends no more reports.
    pub(super) fn give_up(&mut self, worker: usize) {
        self.frontier[worker] = END;
    }

    /// Ends all waiting: no worker sends more reports.
    pub(super) fn end(&mut self) {
        self.frontier.fill(END);
    }

    /// Takes the first interval if every worker has reported it or been dropped.
    pub(super) fn next_complete(&mut self) -> Option<(Turn, Interval)> {
        let entry =
            self.open.first_entry().filter(|first| *first.key() < earliest(&self.frontier))?;
        let (turn, interval) = entry.remove_entry();
        self.kib -= interval.measured.kib();
        Some((turn, interval))
    }

    pub(super) fn waiting(&self) -> Waiting {
        let earliest = earliest(&self.frontier);
        let workers = self.frontier.iter().enumerate();
        Waiting {
            intervals: self.open.len(),
            kib: self.kib,
            slowest: workers.filter(|(_, turn)| **turn == earliest).map(|(at, _)| at).collect(),
        }
    }
}

fn earliest(frontier: &[Turn]) -> Turn {
    frontier.iter().copied().min().unwrap_or(END)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Latency;
    use rabbitscope_timing::{Nanos, RunInstant};

    use super::*;
    use crate::report::{IntervalMeasurements, PublisherCounts};

    fn part(worker: usize, second: u32) -> IntervalReport {
        let mut measured = IntervalMeasurements::default();
        measured.measure(Latency::Confirm, Nanos::from_micros(1_000), 1);
        measured.churn.opened(2, Nanos::from_micros(1));
        IntervalReport {
            worker,
            second,
            start: RunInstant::of_second(second),
            end: RunInstant::of_second(second + 1),
            draining: false,
            is_last: false,
            measured,
            publisher_counts: PublisherCounts::default(),
        }
    }

    #[test]
    fn what_waits_is_known_in_size_and_with_those_it_waits_for() {
        let mut open = OpenIntervals::new(3);
        let check = |open: &OpenIntervals, intervals, kib, slowest: &[usize]| {
            let slowest = slowest.to_vec();
            assert_eq!(open.waiting(), Waiting { intervals, kib, slowest });
        };
        check(&open, 0, 0, &[0, 1, 2]);
        // 2,048 bins of 8 bytes, and 9 times 1,024 more up to a million. Churn adds few.
        let one = 16 + 8 * 9 + 16;
        for second in 0..2 {
            open.add(part(0, second));
        }
        check(&open, 2, 2 * one, &[1, 2]);
        open.add(part(1, 0));
        check(&open, 2, 2 * one, &[2]);
        open.add(part(2, 0));
        assert_eq!(open.next_complete().unwrap().0, (false, 0));
        assert!(open.next_complete().is_none());
        check(&open, 1, one, &[1, 2]);
        open.give_up(1);
        open.give_up(2);
        assert_eq!(open.next_complete().unwrap().0, (false, 1));
        assert_eq!(open.waiting().kib, 0);
    }
}
