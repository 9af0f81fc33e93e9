//! The expectations of a run.

use std::{fmt, time::Duration};

use rabbitscope_text::display_duration;

/// The expectations of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// A run that is not steady is not valid.
    pub steady: bool,
    /// Limits that must hold, in the order of [`Metric::all`].
    pub that: Vec<Expectation>,
}

/// One line of `[expect]`, such as `confirm.p99 < 20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The measured value.
    pub metric: Metric,
    /// The comparison with the limit.
    pub comparison: Comparison,
    /// The limit.
    pub limit: Limit,
}

/// A value that can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// A quantile of a latency; both by their names in `run.json`.
    Latency(&'static str, &'static str),
    /// Messages per second in the measured time: `published` (accepted by the broker), `confirmed`, `consumed` or
    /// `replies`.
    Rate(&'static str),
    /// A count over the whole run, such as `lost`.
    Count(&'static str),
    /// A part of the load's time, such as `without-service`.
    Time(&'static str),
}

/// Parts of the load's time that can be expected: without service, and blocked by an alarm.
pub const TIMES: [&str; 2] = ["without-service", "blocked"];

/// Latencies that can be expected. [`LatencyEnds::recorded`](crate::scenario::LatencyEnds::recorded) maps them to the
/// names in `run.json`.
pub const LATENCIES: [&str; 13] = [
    "confirm",
    "confirm-intended",
    "end-to-end",
    "end-to-end-intended",
    "delivered",
    "delivered-intended",
    "processed",
    "processed-intended",
    "settled",
    "settled-intended",
    "round-trip",
    "round-trip-intended",
    "client-delay",
];

/// Figures of a latency that can be expected.
pub const QUANTILES: [&str; 7] = ["p50", "p95", "p99", "p999", "p9999", "max", "mean"];

/// Messages whose rate can be expected.
pub const RATES: [&str; 4] = ["published", "confirmed", "consumed", "replies"];

/// Counts that can be expected, each with the count of which it can be a share.
pub const COUNTS: [(&str, &str); 13] = [
    ("lost", "accepted"),
    ("duplicates", "consumed"),
    ("out-of-order", "consumed"),
    ("redelivered", "consumed"),
    ("nacked", "published"),
    ("returned", "published"),
    ("unconfirmed", "published"),
    ("late", "scheduled"),
    ("late-by-client", "scheduled"),
    ("dropped", "scheduled"),
    ("requests-unanswered", "requests"),
    ("stray-replies", "replies"),
    ("churn-failed", "churn-opened"),
];

/// Comparison of a measured value with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

/// A limit, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Limit of a latency or another time, in nanoseconds.
    Nanos(u64),
    /// Limit of a rate, per second.
    PerSecond(f64),
    /// Limit of a count.
    Count(u64),
    /// Limit of a count as a share of another, or of a time as a share of the load's, in percent.
    Percent(f64),
}

impl Comparison {
    /// All comparisons, symbols of two characters before those of one.
    pub const ALL: [Self; 5] = [Self::AtMost, Self::AtLeast, Self::Equal, Self::Below, Self::Above];

    /// Returns the symbol in a scenario.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Equal => "==",
            Self::AtLeast => ">=",
            Self::Above => ">",
        }
    }

    /// Returns whether `value` satisfies the comparison with `limit`.
    pub fn holds<N: PartialOrd + Copy>(self, value: N, limit: N) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Equal => value == limit,
            Self::AtLeast => value >= limit,
            Self::Above => value > limit,
        }
    }
}

impl Metric {
    /// Yields all metrics that can be expected, counts first.
    pub fn all() -> impl Iterator<Item = Self> {
        let latencies = LATENCIES
            .iter()
            .flat_map(|latency| QUANTILES.iter().map(|quantile| Self::Latency(latency, quantile)));
        let rates = RATES.iter().map(|messages| Self::Rate(messages));
        let counts = COUNTS.iter().map(|(count, _)| Self::Count(count));
        counts.chain(TIMES.iter().map(|time| Self::Time(time))).chain(rates).chain(latencies)
    }

    /// Returns the key in `[expect]`, and the key in its table if it has one.
    pub(in crate::scenario) fn keys(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Latency(latency, quantile) => (latency, Some(quantile)),
            Self::Rate(messages) => (messages, Some("rate")),
            Self::Count(name) | Self::Time(name) => (name, None),
        }
    }
}

impl Expectation {
    /// Returns the bound as written in a scenario: `< 20ms`.
    pub fn bound(&self) -> String {
        format!("{} {}", self.comparison.symbol(), self.limit)
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.bound())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keys() {
            (name, Some(figure)) => write!(f, "{name}.{figure}"),
            (name, None) => f.write_str(name),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanos(nanos) => display_duration(Duration::from_nanos(*nanos)).fmt(f),
            Self::PerSecond(rate) => rate.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}
