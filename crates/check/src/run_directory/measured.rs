//! The seconds of a run to which rates apply: after the warm-up, before the drain.

use rabbitscope_analysis::LoadRates;
use rabbitscope_runs::{
    record::{Counters, RunRecord, SecondRow},
    scenario::Scenario,
};

/// A recorded run, and its measured part.
#[derive(Debug)]
pub(super) struct Measured<'a> {
    pub(super) record: &'a RunRecord,
    /// The scenario. Absent if the record has one of an earlier version that this program cannot read.
    pub(super) scenario: Option<Scenario>,
    series: &'a [SecondRow],
    /// The measured seconds.
    pub(super) rows: Vec<&'a SecondRow>,
    /// The sums of these seconds.
    pub(super) counts: Counters,
    pub(super) rates: LoadRates,
}

impl<'a> Measured<'a> {
    pub(super) fn new(record: &'a RunRecord, series: &'a [SecondRow]) -> Self {
        let is_measured = |row: &&SecondRow| !row.draining && !row.warming;
        let rows: Vec<&SecondRow> = series.iter().filter(is_measured).collect();
        let mut counts = Counters::default();
        for row in &rows {
            counts.add(&row.counts);
        }
        Self {
            record,
            scenario: serde_json::from_value(record.scenario.clone()).ok(),
            rates: LoadRates::from_series(series).unwrap_or_default(),
            series,
            rows,
            counts,
        }
    }

    /// Returns all seconds, warm-up and drain included.
    pub(super) const fn all(&self) -> &'a [SecondRow] {
        self.series
    }

    /// Returns the length of the measured part in seconds.
    pub(super) const fn seconds(&self) -> f64 {
        self.rates.seconds
    }

    /// Returns events per second.
    pub(super) fn rate(&self, count: u64) -> f64 {
        if self.seconds() > 0.0 { count as f64 / self.seconds() } else { 0.0 }
    }

    /// Returns the mean of a figure over the seconds that have it.
    pub(super) fn mean(&self, figure: impl Fn(&SecondRow) -> Option<f64>) -> Option<f64> {
        let known =
            self.rows.iter().filter_map(|row| Some((figure(row)?, row.interval_nanos as f64)));
        let (sum, time) = known
            .fold((0.0, 0.0), |(sum, time), (value, nanos)| (sum + value * nanos, time + nanos));
        (time > 0.0).then(|| sum / time)
    }
}
