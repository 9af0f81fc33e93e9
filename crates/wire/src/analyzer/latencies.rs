//! Latencies by kind, as histograms and in the form of the report.

use hdrhistogram::Histogram;
use rabbitscope_text::Percentiles;

use crate::report::{LatencyKind, LatencyReport, Unmatched};

/// Largest recorded latency: an hour. Longer ones count as this.
const MAX_NANOS: u64 = 3_600_000_000_000;

/// Latencies of each kind that occurred.
#[derive(Clone, Debug)]
pub(super) struct LatencyHistograms {
    digits: u8,
    kinds: Vec<Latencies>,
}

#[derive(Clone, Debug)]
struct Latencies {
    kind: LatencyKind,
    histogram: Histogram<u64>,
    unmatched: Unmatched,
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
        let recorded = self.entry(kind).histogram.record(nanos.min(MAX_NANOS));
        recorded.expect("the histogram grows by itself, and an hour is small");
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
            let histogram = Histogram::new(self.digits).expect("digits are from 0 to 5");
            self.kinds.push(Latencies { kind, histogram, unmatched: Unmatched::default() });
            self.kinds.len() - 1
        });
        &mut self.kinds[place]
    }

    pub(super) fn report(&self) -> Vec<LatencyReport> {
        let mut reports: Vec<LatencyReport> = self.kinds.iter().map(Latencies::report).collect();
        reports.sort_by_key(|report| report.kind);
        reports
    }
}

impl Latencies {
    fn report(&self) -> LatencyReport {
        LatencyReport {
            kind: self.kind,
            mean: self.histogram.mean(),
            min: if self.histogram.is_empty() { 0 } else { self.histogram.min() },
            percentiles: Percentiles::from_histogram(&self.histogram),
            unmatched: self.unmatched,
        }
    }
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
