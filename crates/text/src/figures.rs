//! Figures for people: three digits and a unit, or digits in groups of three.

/// Formats a rounded rate: `1234.5` as `1,235`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, rounded")]
pub fn grouped_rate(rate: f64) -> String {
    grouped(rate.round() as u64)
}

/// Formats `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun, which is given in the singular: `1 frame`, `2,000 processes`.
pub fn counted(number: u64, noun: &str) -> String {
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let ending = match number {
        1 => "",
        _ if hisses => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(number))
}

/// Formats nanoseconds with three digits and a unit: `33.1 ms`; from two minutes on `2 min 50 s`, from two hours on `2 h 3 min`.
pub fn short_time(nanos: u64) -> String {
    // Half of the smallest unit that is shown rounds up.
    match nanos / 1_000_000 {
        0..119_950 => {}
        millis @ 119_950..7_199_500 => return long_time((millis + 500) / 1_000, "min", "s"),
        millis => return long_time((millis + 30_000) / 60_000, "h", "min"),
    }
    let nanos = nanos as f64;
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // 999.5 of a unit is 1.00 of the next one.
    let found = units.into_iter().find(|&(length, _)| nanos >= 0.9995 * length);
    let (length, unit) = found.unwrap_or((1.0, "ns"));
    let value = nanos / length;
    let decimals = if unit == "ns" || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

/// `2 min 50 s` of 170: a unit, and the sixtieth part of it.
fn long_time(parts: u64, unit: &str, part: &str) -> String {
    format!("{} {unit} {} {part}", parts / 60, parts % 60)
}

/// Formats bytes with a unit: `12 MiB`.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 10.0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        fn check(number: u64, expected: &str) {
            assert_eq!(grouped(number), expected);
        }
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1_234_567, "1,234,567");
    }

    #[test]
    fn nouns_follow_their_number() {
        fn check(number: u64, noun: &str, expected: &str) {
            assert_eq!(counted(number, noun), expected);
        }
        check(1, "frame", "1 frame");
        check(0, "frame", "0 frames");
        check(2000, "gap", "2,000 gaps");
        check(1, "process", "1 process");
        check(2, "process", "2 processes");
    }

    #[test]
    fn times_have_three_figures() {
        fn check(nanos: u64, expected: &str) {
            assert_eq!(short_time(nanos), expected);
        }
        check(0, "0 ns");
        check(999, "999 ns");
        check(1_500, "1.50 µs");
        check(999_499, "999 µs");
        check(999_500, "1.00 ms");
        check(999_499_999, "999 ms");
        check(999_600_000, "1.00 s");
        check(33_100_000, "33.1 ms");
        check(250_000_000, "250 ms");
        check(12_345_000_000, "12.3 s");
        check(119_940_000_000, "120 s");
        check(119_960_000_000, "2 min 0 s");
        check(169_874_000_000, "2 min 50 s");
        check(7_199_400_000_000, "119 min 59 s");
        check(7_199_600_000_000, "2 h 0 min");
        check(u64::MAX, "5124095 h 35 min");
    }

    #[test]
    fn sizes() {
        fn check(bytes: u64, expected: &str) {
            assert_eq!(human_bytes(bytes), expected);
        }
        check(0, "0 B");
        check(999, "999 B");
        check(1024, "1.0 KiB");
        check(15 << 20, "15 MiB");
        check((999 << 20) + (9 << 19), "1.0 GiB");
        check(u64::MAX, "16777216 TiB");
    }
}
