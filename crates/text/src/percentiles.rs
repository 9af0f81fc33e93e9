//! Percentiles of measured times: in files, and as cells of a table.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::{grouped, short_time};

/// Percentiles of measured times in nanoseconds. Those that older files lack are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Percentiles {
    /// Number of measurements.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 95 % are below.
    pub p95: u64,
    /// 99 % are below.
    pub p99: u64,
    /// 99.9 % are below.
    #[serde(default)]
    pub p999: u64,
    /// 99.99 % are below.
    #[serde(default)]
    pub p9999: u64,
    /// Largest.
    pub max: u64,
}

impl Percentiles {
    /// Titles of [`Percentiles::cells`].
    pub const TITLES: [&str; 6] = ["p50", "p95", "p99", "p99.9", "max", "measurements"];

    /// Reads the percentiles off a histogram of nanoseconds.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        let value = |quantile| histogram.value_at_quantile(quantile);
        Self {
            count: histogram.len(),
            p50: value(0.5),
            p95: value(0.95),
            p99: value(0.99),
            p999: value(0.999),
            p9999: value(0.9999),
            max: histogram.max(),
        }
    }

    /// Returns the cells of a table's row, under [`Percentiles::TITLES`].
    pub fn cells(&self) -> [String; 6] {
        let Self { count, p50, p95, p99, p999, max, .. } = *self;
        let [p50, p95, p99, p999, max] = [p50, p95, p99, p999, max].map(short_time);
        [p50, p95, p99, p999, max, grouped(count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_becomes_a_row() {
        let mut histogram = Histogram::new(3).unwrap();
        (1..=1000).for_each(|micros| histogram.record(micros * 1000).unwrap());
        let found = Percentiles::from_histogram(&histogram);
        assert!(found.p50.abs_diff(500_000) < 500 && found.max.abs_diff(1_000_000) < 1000);
        let cells = ["500 µs", "950 µs", "990 µs", "999 µs", "1.00 ms", "1,000"];
        assert_eq!(found.cells().len(), cells.len());
        assert_eq!(found.cells()[5], cells[5]);
        let empty = Percentiles::from_histogram(&Histogram::<u64>::new(3).unwrap());
        assert_eq!(empty, Percentiles::default());
    }

    #[test]
    fn rows_of_older_files_are_read() {
        let old = r#"{"count":1,"p50":2,"p95":3,"p99":4,"max":5}"#;
        let read: Percentiles = serde_json::from_str(old).unwrap();
        assert_eq!(read, Percentiles { count: 1, p50: 2, p95: 3, p99: 4, max: 5, ..read });
        assert_eq!((read.p999, read.p9999), (0, 0));
    }
}
