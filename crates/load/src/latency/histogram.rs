//! A lossless histogram of one latency.

use hdrhistogram::Histogram;
use rabbitscope_runs::record::{LatencyFigures, LatencyPoint};

use crate::clock::Nanos;

/// A histogram in nanoseconds with three significant digits, which grows as it needs to. It takes
/// no memory before the first measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatencyHistogram(Option<Box<Histogram<u64>>>);

impl LatencyHistogram {
    /// Records `count` measurements of `value`.
    #[inline]
    pub(crate) fn record(&mut self, value: Nanos, count: u64) {
        // Recording fails only when growing is forbidden or the value is beyond 2^63; neither is
        // the case.
        let recorded = self.histogram().record_n(value.get().max(1), count);
        debug_assert!(recorded.is_ok());
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Some(other) = other.measured() else { return };
        let added = self.histogram().add(other);
        debug_assert!(added.is_ok(), "the sum grows as it needs to");
    }

    /// Adds `other`, or takes its memory when this one is empty.
    pub(crate) fn absorb(&mut self, other: Self) {
        if self.0.is_some() {
            self.add(&other);
        } else {
            *self = other;
        }
    }

    /// Absent when nothing was measured.
    pub(crate) fn measured(&self) -> Option<&Histogram<u64>> {
        self.0.as_deref()
    }

    #[inline]
    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| {
            Box::new(Histogram::new(3).expect("three significant digits are within 0 to 5"))
        })
    }
}

/// Quantiles for one row of the series; absent when nothing was measured.
pub(crate) fn latency_point(histogram: &LatencyHistogram) -> Option<LatencyPoint> {
    let histogram = histogram.measured()?;
    let Quantiles { p50, p95, p99, p999, p9999 } = Quantiles::of(histogram);
    Some(LatencyPoint { count: histogram.len(), p50, p95, p99, p999, p9999, max: histogram.max() })
}

/// The figures of a latency, in nanoseconds; absent when nothing was measured.
pub(super) fn latency_figures(
    name: String,
    histogram: &LatencyHistogram,
) -> Option<LatencyFigures> {
    let histogram = histogram.measured()?;
    let Quantiles { p50, p95, p99, p999, p9999 } = Quantiles::of(histogram);
    Some(LatencyFigures {
        name,
        count: histogram.len(),
        mean: histogram.mean(),
        min: histogram.min(),
        p50,
        p95,
        p99,
        p999,
        p9999,
        max: histogram.max(),
    })
}

/// The quantiles that rows, summaries and breakdowns have, in nanoseconds.
struct Quantiles {
    p50: u64,
    p95: u64,
    p99: u64,
    p999: u64,
    p9999: u64,
}

impl Quantiles {
    fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            p50: histogram.value_at_quantile(0.5),
            p95: histogram.value_at_quantile(0.95),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            p9999: histogram.value_at_quantile(0.9999),
        }
    }
}
