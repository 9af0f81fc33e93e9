//! The run so far, as the record of a run that ends now.

use std::collections::VecDeque;

use rabbitscope_analysis::steadiness;
use rabbitscope_runs::record::{Counters, LoadTotals, RunRecord, SecondRow, Service};

/// Seconds by which the run is judged.
const JUDGED_SECONDS: usize = 30;

/// Seconds that are kept for charts: half an hour.
const KEPT_SECONDS: usize = 1800;

/// Seconds by which more are kept before the oldest go, so that they go together.
const SPARE_SECONDS: usize = 100;

/// Record and seconds of a run that goes on.
pub(super) struct SoFar {
    /// The record, with the totals of all seconds.
    pub(super) record: RunRecord,
    /// The latest seconds.
    pub(super) rows: Vec<SecondRow>,
    /// The seconds by which the run is judged.
    judged: VecDeque<SecondRow>,
    /// The counts of the seconds before.
    before: Counters,
}

/// The latest seconds as a run of their own.
pub(super) struct Recent {
    /// The record of these seconds.
    pub(super) record: RunRecord,
    /// The seconds. The first one has the counts of all before, as a part of the warm-up.
    pub(super) rows: Vec<SecondRow>,
    /// Number of seconds, without that one.
    pub(super) seconds: usize,
}

impl SoFar {
    pub(super) fn new(record: RunRecord) -> Self {
        let (rows, judged, before) = (Vec::new(), VecDeque::new(), Counters::default());
        Self { record, rows, judged, before }
    }

    /// Adds a second.
    pub(super) fn add(&mut self, row: &SecondRow) {
        self.record.load.counts.add(&row.counts);
        self.record.duration_nanos += row.interval_nanos;
        if self.rows.len() >= KEPT_SECONDS + SPARE_SECONDS {
            self.rows.drain(..SPARE_SECONDS);
        }
        self.rows.push(row.clone());
        if row.warming || row.draining {
            self.before.add(&row.counts);
            return;
        }
        if self.judged.len() >= JUDGED_SECONDS
            && let Some(oldest) = self.judged.pop_front()
        {
            self.before.add(&oldest.counts);
        }
        self.judged.push_back(row.clone());
    }

    /// Returns the latest seconds under load.
    pub(super) fn recent(&self) -> Recent {
        let judged: Vec<SecondRow> = self.judged.iter().cloned().collect();
        let record = RunRecord {
            load: LoadTotals::of_seconds(&judged),
            service: Service::of_seconds(&judged),
            duration_nanos: judged.iter().map(|row| row.interval_nanos).sum(),
            steadiness: steadiness(&judged),
            ..self.record.clone()
        };
        let first = judged.first().map_or(0, |row| row.second);
        let before = SecondRow {
            second: first.saturating_sub(1),
            warming: true,
            counts: self.before.clone(),
            ..SecondRow::default()
        };
        let seconds = judged.len();
        Recent { record, rows: [vec![before], judged].concat(), seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_no_count_is_lost() {
        let mut so_far = SoFar::new(RunRecord::default());
        for second in 0..5000 {
            let counts = Counters { published: 2, ..Counters::default() };
            let warming = second < 10;
            let interval_nanos = 1_000_000_000;
            so_far.add(&SecondRow {
                second,
                counts,
                warming,
                interval_nanos,
                ..SecondRow::default()
            });
            assert!(so_far.rows.len() <= KEPT_SECONDS + SPARE_SECONDS);
        }
        assert_eq!(so_far.record.load.counts.published, 10_000);
        assert!(so_far.rows.len() >= KEPT_SECONDS);
        let recent = so_far.recent();
        assert_eq!((recent.seconds, recent.rows.len()), (JUDGED_SECONDS, JUDGED_SECONDS + 1));
        assert_eq!(recent.record.load.counts.published, 60);
        assert_eq!(recent.record.duration_nanos, 30_000_000_000);
        let all: u64 = recent.rows.iter().map(|row| row.counts.published).sum();
        assert_eq!(all, 10_000);
        assert!(recent.rows[0].warming && recent.rows[1].second == 4970);
    }
}
