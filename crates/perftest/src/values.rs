//! Parsing of option values: pairs, sizes, times, schedules.

use std::time::Duration;

use toml::{Table, Value};

use crate::{PerfTestError, arguments::Arguments, error::invalid_value};

/// Parses `key=value,key=value`. Whole numbers are numbers, `true` and `false` are booleans, and a key without a
/// value has an empty text. The part after a second `=` is lost, as in PerfTest.
pub(super) fn pairs(arguments: &Arguments, option: &'static str) -> Table {
    let mut table = Table::new();
    for pair in arguments.all(option).iter().flat_map(|list| list.split(',')) {
        let mut parts = pair.split('=');
        let (key, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if key.is_empty() {
            continue;
        }
        let value = match (key, text) {
            ("x-dead-letter-exchange", "amq.default") => Value::from(""),
            ("x-single-active-consumer", text) => Value::from(text.eq_ignore_ascii_case("true")),
            (_, "true") => Value::from(true),
            (_, "false") => Value::from(false),
            (_, text) => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        };
        table.insert(key.to_owned(), value);
    }
    table
}

/// Parses a number of bytes with the unit `kb`, `mb`, `gb` or `tb`, powers of 1,000.
pub(super) fn capacity(arguments: &Arguments, option: &str) -> Result<Option<i64>, PerfTestError> {
    let Some(text) = arguments.text(option) else { return Ok(None) };
    let lower = text.to_ascii_lowercase();
    let units = [("kb", 1000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000)];
    let unit = units.iter().find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?, *bytes)));
    let (digits, unit) = unit.unwrap_or((lower.as_str(), 1));
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<i64> = is_number.then(|| digits.parse().ok()).flatten();
    match number.and_then(|number| number.checked_mul(unit)) {
        Some(bytes) => Ok(Some(bytes)),
        None => invalid_value(option, text, "a size such as `100gb` or `50mb`"),
    }
}

/// Parses `P5DT8H` or `PT10M30.5S` to whole seconds, like `java.time.Duration`. Weeks, months and years are not
/// allowed.
pub(super) fn iso_seconds(text: &str) -> Option<u64> {
    let upper = text.to_ascii_uppercase();
    let mut rest = upper.strip_prefix('P')?;
    let mut seconds = 0_u64;
    let mut in_day = false;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T').filter(|_| !in_day) {
            (rest, in_day) = (time, true);
            continue;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let end = digits + rest[digits..].find(|c: char| c.is_ascii_alphabetic())?;
        let unit = match (rest.as_bytes()[end], in_day) {
            (b'D', false) => 86_400,
            (b'H', true) => 3600,
            (b'M', true) => 60,
            (b'S', true) => 1,
            _ => return None,
        };
        let fraction = &rest[digits..end];
        let is_fraction = fraction.strip_prefix('.').is_some_and(is_digits) && unit == 1;
        if !fraction.is_empty() && !is_fraction {
            return None;
        }
        seconds = number.checked_mul(unit).and_then(|part| seconds.checked_add(part))?;
        rest = &rest[end + 1..];
    }
    (seconds > 0).then_some(seconds)
}

/// Parses `10m30s` or `5 ms`, like Go's `time.ParseDuration`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut rest: &str = &text.replace(' ', "");
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" | "μs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[end..];
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// Returns a time as scenarios write it, in whole microseconds.
pub(super) fn written(time: Duration) -> String {
    let micros = time.as_micros();
    match micros % 1_000_000 {
        0 => format!("{}s", micros / 1_000_000),
        _ => format!("{micros}us"),
    }
}

/// Converts values of the form `NUMBER:SECONDS` to the tables of a schedule.
pub(super) fn steps<V: Into<Value>, const N: usize>(
    arguments: &Arguments,
    option: &'static str,
    table: impl Fn(i64, i64) -> [(&'static str, V); N],
) -> Result<Vec<Value>, PerfTestError> {
    let mut steps = Vec::new();
    for text in arguments.all(option) {
        let parts = text.split_once(':');
        let numbers = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let numbers = numbers.filter(|(number, seconds)| *number >= 0 && *seconds > 0);
        let Some((number, seconds)) = numbers else {
            return invalid_value(option, text, "`NUMBER:SECONDS`");
        };
        let pairs = table(number, seconds).map(|(key, value)| (key.to_owned(), value.into()));
        steps.push(Value::Table(Table::from_iter(pairs)));
    }
    Ok(steps)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::read;

    #[test]
    fn pairs_are_typed_as_perftest_does() {
        let line = "-qa a=1,b=true,c=x,d=,e -qa f=1=2,x-single-active-consumer=yes,\
                    x-dead-letter-exchange=amq.default";
        let table = pairs(&read(line).unwrap(), "queue-args");
        let expected = "a = 1\nb = true\nc = \"x\"\nd = \"\"\ne = \"\"\nf = 1\n\
                        x-single-active-consumer = false\nx-dead-letter-exchange = \"\"\n";
        assert_eq!(table, expected.parse::<Table>().unwrap());
    }

    #[test]
    fn sizes_have_units() {
        fn check(text: &str, expected: Option<i64>) {
            let arguments = read(&format!("-mlb {text}")).unwrap();
            assert_eq!(capacity(&arguments, "max-length-bytes").ok().flatten(), expected, "{text}");
        }
        check("20gb", Some(20_000_000_000));
        check("500MB", Some(500_000_000));
        check("7", Some(7));
        check("0", Some(0));
        check("7-mb", None);
        check("gb", None);
        check("1.5gb", None);
    }

    #[test]
    fn durations_of_go() {
        let millis = |text: &str| duration(text).map(|time| time.as_millis());
        let given = ["5 ms", "1.5h", "10m30s", "0", "2s", "", "5", "5d", "s"];
        let expected =
            [Some(5), Some(5_400_000), Some(630_000), Some(0), Some(2000), None, None, None, None];
        assert_eq!(given.map(millis), expected);
        assert_eq!(written(Duration::from_millis(1500)), "1500000us");
        assert_eq!(written(Duration::from_secs(90)), "90s");
    }

    #[test]
    fn durations_of_iso_8601() {
        fn check(text: &str, expected: Option<u64>) {
            assert_eq!(iso_seconds(text), expected, "{text}");
        }
        check("PT10M30S", Some(630));
        check("pt10.75s", Some(10));
        check("P5DT8H", Some(460_800));
        check("P1W", None);
        check("P1Y", None);
        check("10s", None);
        check("PT", None);
        check("PT1.5H", None);
        check("P1D2H", None);
    }
}
