//! The figures of a run that `run.json` has: rates and latencies.

use rabbitscope_runs::record::{Counters, Latency};
use rabbitscope_text::{Unit, grouped_rate, short_time};
use serde::{Serialize, Serializer};

use super::RunFacts;

/// A figure of a run, by its name in `[expect]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Messages per second that the broker accepted.
    Published,
    /// Messages per second that consumers settled or received.
    Consumed,
    /// Percentile of the time until a confirm.
    Confirm(Part),
    /// Percentile of the time until a delivery.
    EndToEnd(Part),
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// 50 %.
    Median,
    /// 99 %.
    P99,
}

impl Figure {
    /// All figures, the most important first.
    pub const ALL: [Self; 6] = [
        Self::Published,
        Self::Consumed,
        Self::Confirm(Part::Median),
        Self::Confirm(Part::P99),
        Self::EndToEnd(Part::Median),
        Self::EndToEnd(Part::P99),
    ];

    /// Returns the name, such as `confirm.p99`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published.rate",
            Self::Consumed => "consumed.rate",
            Self::Confirm(Part::Median) => "confirm.p50",
            Self::Confirm(Part::P99) => "confirm.p99",
            Self::EndToEnd(Part::Median) => "end-to-end.p50",
            Self::EndToEnd(Part::P99) => "end-to-end.p99",
        }
    }

    /// Returns the figure of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.name() == name)
    }

    /// Returns the value of a run, in messages per second or nanoseconds; absent if it was not measured.
    pub fn value(self, run: &RunFacts) -> Option<f64> {
        let latency = |latency: Latency, part| {
            let mut all = run.latencies.iter().map(|summary| &summary.figures);
            let found = all.find(|figures| figures.name == latency.name())?.percentiles;
            let nanos = if part == Part::Median { found.p50 } else { found.p99 };
            (found.count > 0).then_some(nanos as f64)
        };
        match self {
            Self::Published => rate(run, Counters::accepted_or_written),
            Self::Consumed => rate(run, |counts| counts.consumed),
            Self::Confirm(part) => latency(Latency::Confirm, part),
            Self::EndToEnd(part) => latency(Latency::EndToEnd, part),
        }
    }

    /// Returns the unit of the values.
    pub fn unit(self) -> Unit {
        match self {
            Self::Published | Self::Consumed => Unit::PerSecond,
            Self::Confirm(_) | Self::EndToEnd(_) => Unit::Nanos,
        }
    }

    /// Returns a value as text with its unit.
    pub fn display(self, value: f64) -> String {
        match self {
            Self::Published | Self::Consumed => format!("{}/s", grouped_rate(value)),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            Self::Confirm(_) | Self::EndToEnd(_) => short_time(value as u64),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Returns the count per second of the measured part; absent without any.
fn rate(run: &RunFacts, count: fn(&Counters) -> u64) -> Option<f64> {
    let (measured, count) = (&run.measured, count(&run.measured.load.counts));
    let seconds = measured.duration_nanos as f64 / 1e9;
    (seconds > 0.0 && count > 0).then(|| count as f64 / seconds)
}
