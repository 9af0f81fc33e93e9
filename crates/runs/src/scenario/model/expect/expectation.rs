//! The expectations of a run.

use std::{fmt, time::Duration};

use rabbitscope_text::{display_duration, display_size};

use crate::record::Metric;

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
    /// Limit of a number of bytes.
    Bytes(u64),
    /// Limit of a number that need not be whole.
    Number(f64),
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

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanos(nanos) => display_duration(Duration::from_nanos(*nanos)).fmt(f),
            Self::PerSecond(number) | Self::Number(number) => number.fmt(f),
            Self::Bytes(bytes) => display_size(*bytes).fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}
