//! A lossless histogram of one latency.

use hdrhistogram::Histogram;
use rabbitscope_runs::record::{LatencyFigures, Percentiles};
use serde::{Deserialize, Serialize};

use crate::clock::Nanos;

/// A histogram in nanoseconds with three significant digits, which grows on demand. It takes no memory before the first
/// measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", try_from = "Vec<u64>")]
pub struct LatencyHistogram(Option<Box<Histogram<u64>>>);

impl LatencyHistogram {
    /// Records `count` measurements of `value`.
    #[inline]
    pub fn record(&mut self, value: Nanos, count: u64) {
        // Recording fails only if the histogram may not grow or the value exceeds 2^63; neither is the case.
        let recorded = self.histogram().record_n(value.get().max(1), count);
        debug_assert!(recorded.is_ok());
    }

    /// Adds the measurements of another histogram.
    pub fn add(&mut self, other: &Self) {
        let Some(other) = other.measured() else { return };
        let added = self.histogram().add(other);
        debug_assert!(added.is_ok(), "the sum grows as it needs to");
    }

    /// Adds `other`, or takes its memory if this histogram is empty.
    pub fn absorb(&mut self, other: Self) {
        if self.0.is_some() {
            self.add(&other);
        } else {
            *self = other;
        }
    }

    /// Number of measurements.
    pub fn samples(&self) -> u64 {
        self.measured().map_or(0, Histogram::len)
    }

    /// Memory in KiB.
    pub fn kib(&self) -> usize {
        self.measured().map_or(0, |histogram| histogram.distinct_values() * size_of::<u64>() / 1024)
    }

    /// The histogram; absent if nothing was measured.
    pub fn measured(&self) -> Option<&Histogram<u64>> {
        self.0.as_deref()
    }

    #[inline]
    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| {
            Box::new(Histogram::new(3).expect("three significant digits are within 0 to 5"))
        })
    }
}

/// Encodes the bins as pairs of numbers: the distance of a bin's highest value from that of the previous recorded bin,
/// and the count. The encoding is lossless: decoding puts the same counts into the same bins.
impl From<LatencyHistogram> for Vec<u64> {
    fn from(histogram: LatencyHistogram) -> Self {
        let mut before = 0;
        let bins = histogram.0.iter().flat_map(|histogram| histogram.iter_recorded());
        bins.flat_map(|bin| {
            let highest = bin.value_iterated_to();
            let distance = highest - std::mem::replace(&mut before, highest);
            [distance, bin.count_at_value()]
        })
        .collect()
    }
}

impl TryFrom<Vec<u64>> for LatencyHistogram {
    type Error = &'static str;

    fn try_from(bins: Vec<u64>) -> Result<Self, Self::Error> {
        let (pairs, rest) = bins.as_chunks::<2>();
        let (mut read, mut value) = (Self::default(), 0_u64);
        for [distance, count] in pairs {
            value = value.checked_add(*distance).ok_or("a latency is too long")?;
            let recorded = read.histogram().record_n(value, *count);
            recorded.map_err(|_| "a latency is too long for a histogram")?;
        }
        if rest.is_empty() { Ok(read) } else { Err("a bin has no count") }
    }
}

/// The percentiles for one row of the series; absent if nothing was measured.
pub fn latency_point(histogram: &LatencyHistogram) -> Option<Percentiles> {
    histogram.measured().map(Percentiles::from_histogram)
}

/// The figures of a latency in nanoseconds; absent if nothing was measured.
pub fn latency_figures(name: String, histogram: &LatencyHistogram) -> Option<LatencyFigures> {
    let histogram = histogram.measured()?;
    let percentiles = Percentiles::from_histogram(histogram);
    Some(LatencyFigures { name, mean: histogram.mean(), min: histogram.min(), percentiles })
}
