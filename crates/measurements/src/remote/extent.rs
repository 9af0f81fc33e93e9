//! The memory that an update would take, checked before the update is read. Bins of a few bytes become histograms of
//! hundreds of kilobytes.

use std::fmt::Display;

use rabbitscope_runs::record::Latency;
use rabbitscope_timing::{MAX_SLOTS, RunInstant};
use serde::{Deserialize, de::IgnoredAny};
use thiserror::Error;

/// End of the longest run. Chosen: ten years.
pub(super) const LONGEST_RUN: RunInstant =
    RunInstant::from_nanos(10 * 365 * 24 * 3600 * 1_000_000_000);

/// Intervals in an update. Chosen: a hundred threads stay below this even if their collector had no CPU for more than a
/// minute.
const MAX_INTERVALS: usize = 10_000;

/// Changes of the service in an update. Chosen: enough for a broker that drops a few hundred thousand connections.
pub(super) const MAX_CHANGES: usize = 1 << 20;

/// Reasons for an early end in an update. Chosen: more than there are threads.
const MAX_REASONS: usize = 10_000;

/// Churn groups in an update. Chosen: more than any scenario has.
const MAX_CHURN_GROUPS: usize = 10_000;

/// Size of all histograms of an update. Chosen: three seconds of every slot with three latencies each.
const MAX_KIB: usize = 512 << 10;

/// Sizes of the lists of an update. The fields are the lists of an update that can grow large.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Extent {
    intervals: Vec<IntervalExtent>,
    changes: Vec<IgnoredAny>,
    cut_short: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct IntervalExtent {
    measured: MeasuredExtent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MeasuredExtent {
    slots: Vec<[HistogramExtent; Latency::ALL.len()]>,
    churn: Vec<ChurnExtent>,
}

#[derive(Debug, Deserialize)]
struct ChurnExtent {
    open: HistogramExtent,
    close: HistogramExtent,
}

/// Size of a histogram; the bins are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<u64>")]
enum HistogramExtent {
    /// Size in KiB.
    Kib(u16),
    Impossible(BinFault),
}

/// Error in the bins of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum BinFault {
    #[error("a bin of a histogram has no count")]
    NoCount,
    #[error("a bin of a histogram is empty or repeated")]
    Empty,
    #[error("a latency is longer than any run")]
    TooLong,
}

impl Extent {
    /// Refuses an update that exceeds the limits of a process; the error names the limit.
    pub(super) fn check(&self) -> Result<(), String> {
        at_most("intervals", self.intervals.len(), MAX_INTERVALS)?;
        at_most("changes of the service", self.changes.len(), MAX_CHANGES)?;
        at_most("reasons to end", self.cut_short.len(), MAX_REASONS)?;
        let mut kib = 0;
        for IntervalExtent { measured } in &self.intervals {
            at_most("slots", measured.slots.len(), MAX_SLOTS)?;
            at_most("groups of churn", measured.churn.len(), MAX_CHURN_GROUPS)?;
            for histogram in measured.histograms() {
                match histogram {
                    HistogramExtent::Kib(of) => kib += usize::from(of),
                    HistogramExtent::Impossible(why) => return Err(why.to_string()),
                }
            }
        }
        at_most("KiB of histograms", kib, MAX_KIB)
    }
}

impl MeasuredExtent {
    fn histograms(&self) -> impl Iterator<Item = HistogramExtent> {
        let of_churn = self.churn.iter().flat_map(|group| [group.open, group.close]);
        self.slots.iter().flatten().copied().chain(of_churn)
    }
}

/// Reads bins as [`rabbitscope_timing::LatencyHistogram`] writes them.
impl From<Vec<u64>> for HistogramExtent {
    fn from(bins: Vec<u64>) -> Self {
        let (pairs, rest) = bins.as_chunks::<2>();
        if !rest.is_empty() {
            return Self::Impossible(BinFault::NoCount);
        }
        let mut highest = 0_u64;
        for [distance, count] in pairs {
            if *distance == 0 || *count == 0 {
                return Self::Impossible(BinFault::Empty);
            }
            highest = highest.saturating_add(*distance);
        }
        if highest > LONGEST_RUN.nanos() {
            return Self::Impossible(BinFault::TooLong);
        }
        Self::Kib(if bins.is_empty() { 0 } else { kib_up_to(highest) })
    }
}

/// Checks a limit. `what` is a plural noun.
pub(super) fn at_most<T: Copy + PartialOrd + Display>(
    what: &str,
    count: T,
    most: T,
) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("{count} {what}; the limit is {most}")) }
}

/// Memory of a histogram with three significant digits: 2,048 bins of 8 bytes, and 1,024 more for each doubling of the
/// highest value above that.
fn kib_up_to(highest: u64) -> u16 {
    let doublings = highest.max(1).ilog2().saturating_sub(10);
    16 + 8 * u16::try_from(doublings).unwrap_or(u16::MAX / 16)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    #[test]
    fn a_histogram_takes_what_was_computed() {
        for highest in [1, 1000, 2047, 2048, 4095, 4096, 1 << 30, (1 << 45) - 1, 1 << 58] {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            histogram.record(highest).unwrap();
            let bytes = histogram.distinct_values() * size_of::<u64>();
            assert_eq!(usize::from(kib_up_to(highest)) * 1024, bytes, "{highest}");
        }
    }

    #[test]
    fn bins_rise_and_have_counts() {
        fn check(bins: &[u64], expected: Result<u16, BinFault>) {
            let expected = expected.map_or_else(HistogramExtent::Impossible, HistogramExtent::Kib);
            assert_eq!(HistogramExtent::from(bins.to_vec()), expected, "{bins:?}");
        }
        check(&[], Ok(0));
        check(&[1, 1], Ok(16));
        check(&[1000, 3, 4000, 1], Ok(32));
        check(&[1000, 3, 4000], Err(BinFault::NoCount));
        check(&[1000, 3, 0, 4], Err(BinFault::Empty));
        check(&[1000, 0], Err(BinFault::Empty));
        check(&[1 << 58, 1, 1 << 58, 1], Err(BinFault::TooLong));
        check(&[u64::MAX, 1, u64::MAX, 1], Err(BinFault::TooLong));
    }
}
