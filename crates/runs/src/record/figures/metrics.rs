//! Figures of a run by which it is judged: those that a scenario can expect and an experiment can compare.

use std::{fmt, sync::LazyLock};

use rabbitscope_text::{MetricId, Unit};

use super::{
    counters::{Counters, ExpectedCount, Needs},
    gauges::{Gauge, gauges},
    latencies::LatencyFigures,
};
use crate::record::SecondRow;

/// A figure of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// A quantile of a latency.
    Latency(ExpectedLatency, Quantile),
    /// Messages per second in the measured time.
    Rate(ExpectedRate),
    /// A count over the whole run.
    Count(ExpectedCount),
    /// A part of the load's time.
    Time(ExpectedTime),
    /// A statistic of a gauge over the seconds of the measured time.
    Gauge(ExpectedGauge, Statistic),
}

/// A gauge by which a run is judged: one whose name has a point. Its place among all gauges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedGauge(usize);

/// The names of all metrics.
static NAMES: LazyLock<Vec<(Metric, String)>> = LazyLock::new(|| {
    let name = |metric| match metric {
        Metric::Latency(latency, quantile) => format!("{}.{}", latency.name(), quantile.name()),
        Metric::Rate(messages) => format!("{}.rate", messages.name()),
        Metric::Count(count) => count.id().name.to_owned(),
        Metric::Time(time) => time.name().to_owned(),
        Metric::Gauge(gauge, statistic) => format!("{}.{}", gauge.id().name, statistic.name()),
    };
    Metric::all().map(|metric| (metric, name(metric))).collect()
});

macro_rules! named {
    ($(#[$attribute:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$doc])* #[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl $type {
            /// All of them, in the order of all lists.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Their names.
            pub const NAMES: &[&'static str] = &[$($name),*];

            /// Returns the name as in `[expect]`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }
    };
}

named! {
    /// A latency as a limit names it. [`LatencyEnds::recorded`](crate::scenario::LatencyEnds::recorded) maps it to a
    /// latency of the run.
    ExpectedLatency {
        Confirm = "confirm",
        ConfirmIntended = "confirm-intended",
        EndToEnd = "end-to-end",
        EndToEndIntended = "end-to-end-intended",
        Delivered = "delivered",
        DeliveredIntended = "delivered-intended",
        Processed = "processed",
        ProcessedIntended = "processed-intended",
        Settled = "settled",
        SettledIntended = "settled-intended",
        RoundTrip = "round-trip",
        RoundTripIntended = "round-trip-intended",
        ClientDelay = "client-delay",
    }
}

named! {
    /// A figure of a latency.
    Quantile {
        P50 = "p50",
        P95 = "p95",
        P99 = "p99",
        P999 = "p999",
        P9999 = "p9999",
        Max = "max",
        Mean = "mean",
    }
}

named! {
    /// Messages whose rate is a figure.
    ExpectedRate {
        /// Messages that the broker accepted:
        Published = "published",
        Confirmed = "confirmed",
        Consumed = "consumed",
        Replies = "replies",
    }
}

named! {
    /// A part of the load's time.
    ExpectedTime {
        WithoutService = "without-service",
        /// Blocked by an alarm:
        Blocked = "blocked",
    }
}

named! {
    /// A statistic of the seconds' values.
    Statistic {
        Mean = "mean",
        Min = "min",
        Max = "max",
    }
}

impl ExpectedGauge {
    /// Yields all of them, in the order of all lists.
    pub fn all() -> impl Iterator<Item = Self> {
        let named = gauges().enumerate().filter(|(_, gauge)| gauge.id.name.contains('.'));
        named.map(|(place, _)| Self(place))
    }

    /// Returns the identity of the gauge.
    pub fn id(self) -> MetricId {
        self.gauge().id
    }

    /// Returns the value in a second; absent if it is unknown.
    pub fn value(self, row: &SecondRow) -> Option<f64> {
        self.gauge().value(row)
    }

    fn gauge(self) -> Gauge {
        gauges().nth(self.0).expect("the place is that of a gauge")
    }
}

impl Metric {
    /// Yields all metrics, counts first.
    pub fn all() -> impl Iterator<Item = Self> {
        let counts = ExpectedCount::ALL.iter().copied().map(Self::Count);
        let times = ExpectedTime::ALL.iter().copied().map(Self::Time);
        let rates = ExpectedRate::ALL.iter().copied().map(Self::Rate);
        let latencies = ExpectedLatency::ALL.iter().flat_map(|latency| {
            Quantile::ALL.iter().map(|quantile| Self::Latency(*latency, *quantile))
        });
        let gauges = ExpectedGauge::all().flat_map(|gauge| {
            Statistic::ALL.iter().map(move |statistic| Self::Gauge(gauge, *statistic))
        });
        counts.chain(times).chain(rates).chain(latencies).chain(gauges)
    }

    /// Returns the name: the keys of `[expect]` that lead to it, with points between them.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(metric, _)| *metric == self);
        found.map_or("", |(_, name)| name.as_str())
    }

    /// Returns the one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| known == name).map(|(metric, _)| *metric)
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> Unit {
        match self {
            Self::Latency(..) | Self::Time(_) => Unit::Nanos,
            Self::Rate(_) => Unit::PerSecond,
            Self::Count(count) => count.id().unit,
            Self::Gauge(gauge, _) => gauge.id().unit,
        }
    }

    /// Returns the part of a scenario without which it is never measured.
    pub fn needs(self) -> Needs {
        match self {
            Self::Latency(latency, _) => latency.needs(),
            Self::Rate(ExpectedRate::Confirmed) => Needs::Confirms,
            Self::Rate(ExpectedRate::Consumed) => Needs::Consuming,
            Self::Rate(ExpectedRate::Replies) => Needs::Requests,
            Self::Count(count) => count.needs(),
            Self::Rate(ExpectedRate::Published) | Self::Time(_) | Self::Gauge(..) => Needs::Nothing,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExpectedLatency {
    /// Returns whether it starts at the scheduled time.
    pub fn is_intended(self) -> bool {
        self.name().ends_with("-intended")
    }

    /// Returns the part of a scenario without which it is never measured.
    pub const fn needs(self) -> Needs {
        match self {
            Self::Confirm | Self::ConfirmIntended => Needs::Confirms,
            Self::RoundTrip | Self::RoundTripIntended => Needs::Requests,
            Self::ClientDelay => Needs::Nothing,
            _ => Needs::Deliveries,
        }
    }
}

impl Quantile {
    /// Returns the share of the measurements that are not above it; absent for a mean and for the largest.
    pub const fn share_below(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
            Self::P9999 => Some(0.9999),
            Self::Max | Self::Mean => None,
        }
    }
}

impl LatencyFigures {
    /// Returns a figure in nanoseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of u64")]
    pub fn value(&self, quantile: Quantile) -> u64 {
        match quantile {
            Quantile::P50 => self.percentiles.p50,
            Quantile::P95 => self.percentiles.p95,
            Quantile::P99 => self.percentiles.p99,
            Quantile::P999 => self.percentiles.p999,
            Quantile::P9999 => self.percentiles.p9999,
            Quantile::Max => self.percentiles.max,
            Quantile::Mean => self.mean.round() as u64,
        }
    }
}

impl ExpectedRate {
    /// Returns the messages of this kind.
    pub fn count(self, counters: &Counters) -> u64 {
        match self {
            Self::Published => counters.accepted_or_written(),
            Self::Confirmed => counters.confirmed,
            Self::Consumed => counters.consumed,
            Self::Replies => counters.replies,
        }
    }
}

impl ExpectedTime {
    /// Returns the nanoseconds of this kind.
    pub fn nanos(self, counters: &Counters) -> u64 {
        match self {
            Self::WithoutService => counters.without_service_nanos,
            Self::Blocked => counters.alarm_nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{NodeFigures, SecondRow};

    /// A line of the table of node figures is all that a new one needs.
    #[test]
    fn every_node_figure_can_be_expected() {
        let row = SecondRow {
            node: Some(NodeFigures::from_answer(|path| Some(path.len() as u64))),
            ..SecondRow::default()
        };
        for figure in NodeFigures::ALL {
            let name = format!("{}.mean", figure.id.name);
            let Some(Metric::Gauge(gauge, Statistic::Mean)) = Metric::from_name(&name) else {
                panic!("{name} is no metric");
            };
            let read = row.node.as_ref().and_then(figure.value).map(|number| number as f64);
            assert_eq!((gauge.id(), gauge.value(&row)), (figure.id, read));
        }
        let names: std::collections::BTreeSet<_> = Metric::all().map(Metric::name).collect();
        assert_eq!(names.len(), Metric::all().count(), "names are distinct");
    }
}
