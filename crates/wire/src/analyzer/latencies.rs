//! Latencies by kind, in histograms and in the form of the report.

use std::mem;

use hdrhistogram::Histogram;
use rabbitscope_text::Percentiles;

use crate::report::{LatencyKind, LatencyReport, Unmatched};

/// Largest recorded latency: an hour. Longer ones count as this.
const MAX_NANOS: u64 = 3_600_000_000_000;

/// Number of latencies that are kept one by one. A histogram takes some ten times their memory, and most of thousands of
/// connections have few.
const MAX_SINGLE: usize = 256;

/// Latencies of each kind that occurred.
#[derive(Clone, Debug)]
pub(super) struct LatencyHistograms {
    digits: u8,
    kinds: Vec<Latencies>,
}

#[derive(Clone, Debug)]
struct Latencies {
    kind: LatencyKind,
    values: Values,
    unmatched: Unmatched,
}

/// Nanoseconds, each or in a histogram.
#[derive(Clone, Debug)]
enum Values {
    Single(Vec<u64>),
    Counted(Histogram<u64>),
}

impl LatencyHistograms {
    /// Significant digits for all connections together.
    pub(super) const OF_ALL: u8 = 3;
    /// Significant digits for a single connection: there may be thousands.
    pub(super) const OF_ONE: u8 = 2;

    pub(super) const fn new(digits: u8) -> Self {
        Self { digits, kinds: Vec::new() }
    }

    pub(super) fn add(&mut self, kind: LatencyKind, nanos: u64) {
        let digits = self.digits;
        self.entry(kind).values.add(nanos.min(MAX_NANOS), digits);
    }

    pub(super) fn add_unmatched(&mut self, kind: LatencyKind, more: Unmatched) {
        if more == Unmatched::default() {
            return;
        }
        let unmatched = &mut self.entry(kind).unmatched;
        unmatched.open += more.open;
        unmatched.unknown_begin += more.unknown_begin;
        unmatched.unknown_number += more.unknown_number;
        unmatched.left_out += more.left_out;
    }

    fn entry(&mut self, kind: LatencyKind) -> &mut Latencies {
        let place = self.kinds.iter().position(|known| known.kind == kind).unwrap_or_else(|| {
            let values = Values::Single(Vec::new());
            self.kinds.push(Latencies { kind, values, unmatched: Unmatched::default() });
            self.kinds.len() - 1
        });
        &mut self.kinds[place]
    }

    pub(super) fn report(&self) -> Vec<LatencyReport> {
        let report = |latencies: &Latencies| latencies.report(self.digits);
        let mut reports: Vec<LatencyReport> = self.kinds.iter().map(report).collect();
        reports.sort_by_key(|report| report.kind);
        reports
    }
}

impl Latencies {
    fn report(&self, digits: u8) -> LatencyReport {
        let counted;
        let histogram = match &self.values {
            Values::Single(values) => {
                counted = histogram(values, digits);
                &counted
            }
            Values::Counted(histogram) => histogram,
        };
        LatencyReport {
            kind: self.kind,
            mean: histogram.mean(),
            min: if histogram.is_empty() { 0 } else { histogram.min() },
            percentiles: Percentiles::from_histogram(histogram),
            unmatched: self.unmatched,
        }
    }
}

impl Values {
    fn add(&mut self, nanos: u64, digits: u8) {
        match self {
            Self::Single(values) if values.len() < MAX_SINGLE => values.push(nanos),
            Self::Single(values) => {
                let mut counted = histogram(&mem::take(values), digits);
                record(&mut counted, nanos);
                *self = Self::Counted(counted);
            }
            Self::Counted(histogram) => record(histogram, nanos),
        }
    }
}

fn histogram(values: &[u64], digits: u8) -> Histogram<u64> {
    let mut histogram = Histogram::new(digits).expect("digits are from 0 to 5");
    for nanos in values {
        record(&mut histogram, *nanos);
    }
    histogram
}

fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    histogram.record(nanos).expect("the histogram grows by itself, and an hour is small");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_keep_their_size() {
        let mut latencies = LatencyHistograms::new(LatencyHistograms::OF_ALL);
        for nanos in [190_000, 195_000, 200_000, 5_000_000, u64::MAX] {
            latencies.add(LatencyKind::PublishToConfirm, nanos);
        }
        let report = latencies.report().remove(0);
        assert!(report.percentiles.p50.abs_diff(200_000) <= 200, "{report:?}");
        assert!(report.percentiles.max.abs_diff(MAX_NANOS) <= MAX_NANOS / 1000, "{report:?}");
        assert!(report.percentiles.count == 5 && report.min.abs_diff(190_000) <= 200, "{report:?}");
    }

    #[test]
    fn many_latencies_are_counted_like_few() {
        let report = |count: u64| {
            let mut latencies = LatencyHistograms::new(LatencyHistograms::OF_ONE);
            for number in 0..count {
                latencies.add(LatencyKind::Method, 1_000 + number * 1_000_000);
            }
            latencies.report().remove(0)
        };
        for count in [1, 255, 256, 257, 5_000] {
            let values: Vec<u64> = (0..count).map(|number| 1_000 + number * 1_000_000).collect();
            let expected = histogram(&values, LatencyHistograms::OF_ONE);
            let found = report(count);
            assert_eq!(found.percentiles, Percentiles::from_histogram(&expected), "{count}");
            assert_eq!((found.min, found.mean), (expected.min(), expected.mean()), "{count}");
        }
    }

    #[test]
    fn what_was_not_matched_stands_alone() {
        let mut latencies = LatencyHistograms::new(LatencyHistograms::OF_ONE);
        latencies.add_unmatched(LatencyKind::Method, Unmatched::default());
        assert!(latencies.report().is_empty());
        let open = Unmatched { open: 3, ..Unmatched::default() };
        latencies.add_unmatched(LatencyKind::Method, open);
        let report = latencies.report().remove(0);
        assert_eq!((report.percentiles, report.unmatched), (Percentiles::default(), open));
    }
}
