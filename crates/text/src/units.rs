//! Times and sizes as people write them: `30s`, `250ms`, `12B`, `2MiB`.
//!
//! Scenario files and the program's arguments use the same two parsers, so a value means the same in both. A
//! displayed value parses back to itself.

use std::{fmt, time::Duration};

use thiserror::Error;

/// Error for a text that is not a time or a size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not {expected}")]
pub struct UnitError {
    /// Text as typed.
    pub text: String,
    /// Expected form, with examples.
    pub expected: &'static str,
}

const DURATION: &str = "a time such as `250ms`, `30s`, `5m` or `1h`";
const SIZE: &str = "a size such as `12B`, `4KiB`, `2MiB` or `5MB`";

/// Units of time with their length in nanoseconds, longest first.
const TIMES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Units of size with their length in bytes, largest first. Of two equal units the first is displayed.
const SIZES: [(&str, u64); 8] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Parses a time: a number, then `h`, `m`, `s`, `ms`, `us` or `ns`.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    scaled(text, &TIMES).map(Duration::from_nanos).ok_or_else(|| error(text, DURATION))
}

/// Parses a size in bytes: a number, then `B`, `kB`, `KiB`, `MB`, `MiB`, `GB` or `GiB`.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    scaled(text, &SIZES).ok_or_else(|| error(text, SIZE))
}

/// Formats a time in the largest unit that leaves a whole number.
pub fn display_duration(duration: Duration) -> impl fmt::Display {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Scaled(nanos, &TIMES, "s")
}

/// Formats a size in the largest unit that leaves a whole number.
pub fn display_size(bytes: u64) -> impl fmt::Display {
    Scaled(bytes, &SIZES, "B")
}

fn error(text: &str, expected: &'static str) -> UnitError {
    UnitError { text: text.to_owned(), expected }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let number_length = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(number_length);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole = whole.parse::<u64>().ok()?.checked_mul(*factor)?;
    whole.checked_add(fraction_of(fraction, *factor)?)
}

/// Computes `0.<digits> × factor`; none if it is not a whole number.
fn fraction_of(digits: &str, factor: u64) -> Option<u64> {
    let scale = 10_u128.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let product = u128::from(digits.parse::<u64>().ok()?) * u128::from(factor);
    if product % scale != 0 {
        return None;
    }
    u64::try_from(product / scale).ok()
}

struct Scaled(u64, &'static [(&'static str, u64)], &'static str);

impl fmt::Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, units, zero_unit) = *self;
        if value == 0 {
            return write!(f, "0{zero_unit}");
        }
        let (unit, factor) = units
            .iter()
            .find(|(_, factor)| value.is_multiple_of(*factor))
            .expect("every table ends with the unit 1");
        write!(f, "{}{unit}", value / factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        fn check(text: &str, expected: Option<Duration>) {
            assert_eq!(parse_duration(text).ok(), expected, "{text}");
        }
        check("250ms", Some(Duration::from_millis(250)));
        check("30s", Some(Duration::from_secs(30)));
        check("1.5s", Some(Duration::from_millis(1500)));
        check("5m", Some(Duration::from_secs(300)));
        check("1h", Some(Duration::from_secs(3600)));
        check("10 us", Some(Duration::from_micros(10)));
        for wrong in ["", "30", "s", "-1s", "1.2.3s", "1d", "0.5ns", "99999999999h", "1e3s", "۳s"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn sizes() {
        fn check(text: &str, expected: Option<u64>) {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
        check("12B", Some(12));
        check("4KiB", Some(4096));
        check("2MiB", Some(2 << 20));
        check("5MB", Some(5_000_000));
        check("1.5KiB", Some(1536));
        for wrong in ["12", "B", "0.5B", "1TiB", "12 b", "99999999999GiB"] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_displayed_parses_back() {
        for nanos in [0, 1, 999, 1_000, 1_500_000, 60_000_000_000, 90_000_000_000, u64::MAX] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&display_duration(duration).to_string()), Ok(duration));
        }
        for bytes in [0, 1, 12, 1000, 1024, 1536, 5_000_000, 2 << 20, u64::MAX] {
            assert_eq!(parse_size(&display_size(bytes).to_string()), Ok(bytes));
        }
        assert_eq!(display_duration(Duration::from_secs(90)).to_string(), "90s");
        assert_eq!(display_size(1536).to_string(), "1536B");
        assert_eq!(display_size(4096).to_string(), "4KiB");
    }
}
