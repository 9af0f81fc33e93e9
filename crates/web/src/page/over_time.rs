//! Charts over the seconds of a run: columns of values as lines on a common time axis.

use rabbitscope_runs::record::{Percentiles, SecondRow};
use rabbitscope_text::Unit;

use crate::document::{Axis, Chart, Hue, Mark};

/// A line: its name, and a value for each second.
pub(crate) type Line = (&'static str, Vec<Option<f64>>);

/// The seconds of a run, and the places of their values.
pub(crate) struct OverTime<'a> {
    rows: Vec<&'a SecondRow>,
    /// Middle of each second, in nanoseconds since the start of the load.
    at: Vec<f64>,
    end_nanos: f64,
}

impl<'a> OverTime<'a> {
    /// Leaves out the seconds of the drain, which are part of no rate.
    pub(crate) fn new(rows: &'a [SecondRow], duration_nanos: u64) -> Self {
        let rows: Vec<&SecondRow> = rows.iter().filter(|row| !row.draining).collect();
        let middle = |row: &&SecondRow| 1e9 * (f64::from(row.second) + seconds(row) / 2.0);
        let at: Vec<f64> = rows.iter().map(middle).collect();
        let last = at.last().map_or(1.0, |last| last + 0.5e9);
        Self { rows, at, end_nanos: last.max(duration_nanos as f64) }
    }

    pub(crate) fn rows(&self) -> &[&'a SecondRow] {
        &self.rows
    }

    /// Returns a chart of these lines; absent if none has a value.
    pub(crate) fn chart(
        &self,
        title: impl Into<String>,
        y: Axis,
        lines: impl IntoIterator<Item = Line>,
    ) -> Option<Chart> {
        let has_values = |(_, values): &Line| values.iter().any(Option::is_some);
        let lines = lines.into_iter().filter(has_values).enumerate();
        let line = |(at, (name, values)): (usize, Line)| {
            Mark::line(name, Hue::series(at), self.at.iter().copied(), values)
        };
        let marks: Vec<Mark> = lines.map(line).collect();
        let x = Axis::linear(Unit::Nanos).label("since the start of the load").from(0.0);
        let x = x.to(self.end_nanos);
        let title = title.into();
        (!marks.is_empty()).then(|| Chart { title, note: String::new(), x, y, marks })
    }

    /// Returns the chart of times; absent if none was measured.
    pub(crate) fn times(
        &self,
        title: &str,
        lines: impl IntoIterator<Item = Line>,
    ) -> Option<Chart> {
        self.chart(format!("{title}, log scale"), Axis::log(Unit::Nanos), lines)
    }

    /// Returns a value of each second.
    pub(crate) fn column(&self, value: impl Fn(&SecondRow) -> Option<f64>) -> Vec<Option<f64>> {
        self.rows.iter().map(|row| value(row)).collect()
    }

    /// Returns the rate of each second, to a tenth.
    pub(crate) fn rates(&self, count: impl Fn(&SecondRow) -> u64) -> Vec<Option<f64>> {
        self.column(|row| Some((10.0 * count(row) as f64 / seconds(row)).round() / 10.0))
    }

    /// Returns a percentile of each second in which something was measured.
    pub(crate) fn quantiles(
        &self,
        latency: impl Fn(&SecondRow) -> Option<Percentiles>,
        value: fn(Percentiles) -> u64,
    ) -> Vec<Option<f64>> {
        self.column(|row| {
            latency(row).filter(|point| point.count > 0).map(|point| value(point) as f64)
        })
    }

    /// Returns p50, p99 and the maximum of each second.
    pub(crate) fn spread(
        &self,
        latency: impl Fn(&SecondRow) -> Option<Percentiles> + Copy,
    ) -> [Line; 3] {
        [
            ("p50", self.quantiles(latency, |point| point.p50)),
            ("p99", self.quantiles(latency, |point| point.p99)),
            ("max", self.quantiles(latency, |point| point.max)),
        ]
    }
}

/// Removes lines without a value above 0.
pub(crate) fn above_zero(lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let is_there = |value: &Option<f64>| value.is_some_and(|value| value > 0.0);
    lines.into_iter().filter(|(_, values)| values.iter().any(is_there)).collect()
}

/// Returns the seconds that a row covers; a row without a length covers one.
fn seconds(row: &SecondRow) -> f64 {
    if row.interval_nanos == 0 { 1.0 } else { row.interval_nanos as f64 / 1e9 }
}
