//! The interval reports of all threads about the same second, added up.

use rabbitscope_timing::RunInstant;

use super::self_check::ThreadSecond;
use crate::report::{IntervalMeasurements, IntervalReport};

pub(crate) struct Interval {
    pub(super) start: RunInstant,
    pub(super) end: RunInstant,
    pub(super) measured: IntervalMeasurements,
    pub(super) threads: Vec<ThreadSecond>,
}

impl Interval {
    pub(super) fn from_report(part: IntervalReport) -> Self {
        let threads = vec![ThreadSecond::from_report(&part)];
        Self { start: part.start, end: part.end, measured: part.measured, threads }
    }

    pub(super) fn add(&mut self, part: &IntervalReport) {
        self.threads.push(ThreadSecond::from_report(part));
        self.start = self.start.min(part.start);
        self.end = self.end.max(part.end);
        self.measured.add(&part.measured);
    }
}
