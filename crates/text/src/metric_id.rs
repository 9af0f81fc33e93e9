//! The identity of a figure: its stable name, its title and its unit. Tables of figures elsewhere add the way to read
//! them. No other crate defines units of figures.

use serde::{Serialize, Serializer};

use crate::{grouped, grouped_rate, human_bytes, short_time};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Events per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanos,
    /// CPU time per time, in cores.
    Cores,
    /// Bytes.
    Bytes,
    /// A part of 1.
    Share,
    /// Things at a time, or their mean number.
    Things,
}

/// The identity of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MetricId {
    /// Stable name in files and options, such as `published.rate` or `publish-to-confirm.p99`.
    pub name: &'static str,
    /// Title in tables and sentences.
    pub title: &'static str,
    /// Unit of the values.
    pub unit: Unit,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 7] = [
        Self::PerSecond,
        Self::BytesPerSecond,
        Self::Nanos,
        Self::Cores,
        Self::Bytes,
        Self::Share,
        Self::Things,
    ];

    /// Returns the unit with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerSecond => "per-second",
            Self::BytesPerSecond => "bytes-per-second",
            Self::Nanos => "nanoseconds",
            Self::Cores => "cores",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Things => "things",
        }
    }

    /// Formats a value for people. Negative values count as 0.
    pub fn display(self, value: f64) -> String {
        if !value.is_finite() {
            return "unknown".to_owned();
        }
        let value = value.max(0.0);
        match self {
            Self::PerSecond if value >= 99.5 => format!("{}/s", grouped_rate(value)),
            Self::PerSecond => format!("{}/s", three_digits(value)),
            Self::BytesPerSecond => format!("{}/s", human_bytes(whole(value))),
            Self::Nanos => short_time(whole(value)),
            Self::Cores => format!("{value:.2} cores"),
            Self::Bytes => human_bytes(whole(value)),
            Self::Share => format!("{:.1} %", value * 100.0),
            Self::Things if value >= 99.5 => grouped(whole(value)),
            Self::Things => three_digits(value),
        }
    }
}

/// Writes the name.
impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Formats a value below 100; a whole one has no decimals.
fn three_digits(value: f64) -> String {
    let decimals = match value {
        _ if value.fract() == 0.0 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, rounded"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn values_have_their_unit() {
        fn check(unit: Unit, value: f64, expected: &str) {
            assert_eq!(unit.display(value), expected);
        }
        check(Unit::PerSecond, 12_345.6, "12,346/s");
        check(Unit::PerSecond, 99.5, "100/s");
        check(Unit::PerSecond, 12.34, "12.3/s");
        check(Unit::PerSecond, 0.0, "0/s");
        check(Unit::PerSecond, 0.25, "0.25/s");
        check(Unit::BytesPerSecond, 2_097_152.0, "2.0 MiB/s");
        check(Unit::Nanos, 1_500.0, "1.50 µs");
        check(Unit::Cores, 1.234, "1.23 cores");
        check(Unit::Bytes, 1024.0, "1.0 KiB");
        check(Unit::Share, 0.123, "12.3 %");
        check(Unit::Things, 1_000_000.0, "1,000,000");
        check(Unit::Things, 2.5, "2.50");
        check(Unit::Things, f64::NAN, "unknown");
        check(Unit::Bytes, f64::INFINITY, "unknown");
        check(Unit::Nanos, -1.0, "0 ns");
        check(Unit::Nanos, 1e300, "5124095 h 35 min");
    }
}
