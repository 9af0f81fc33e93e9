//! Points in time as people write them: `2026-01-01T12:00:00Z`.
//!
//! Dates are converted with Howard Hinnant's algorithms (<https://howardhinnant.github.io/date_algorithms.html>), for
//! years from 1970 to 9999.

use std::{fmt, time::Duration};

/// Parses `YYYY-MM-DDThh:mm:ssZ` to the time since 1970-01-01 UTC.
pub fn parse_utc(text: &str) -> Option<Duration> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    if year < 1970 || !is_time || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    let is_date = civil_from_days(days) == (year, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    is_date.then(|| Duration::from_secs(seconds))
}

/// Parses a time like [`parse_utc`], and also fractions of a second, which are dropped, and an offset in place of
/// `Z`: `2026-01-01T13:00:00.5+01:00`.
pub fn parse_offset_time(text: &str) -> Option<Duration> {
    let time = text.find('T')?;
    let end = time + text[time..].find(['Z', 'z', '+', '-'])?;
    let (local, offset) = text.split_at(end);
    let local = local.split_once('.').map_or(local, |(whole, _)| whole);
    let seconds = parse_utc(&format!("{local}Z"))?.as_secs();
    let Some(east) = offset.strip_prefix('+').or(offset.strip_prefix('-')) else {
        return (offset.len() == 1).then(|| Duration::from_secs(seconds));
    };
    let [hours, minutes, _] = numbers(&format!("{east}:00"), ':', [2, 2, 2])?;
    let shift = hours * 3600 + minutes * 60;
    let seconds = if offset.starts_with('+') {
        seconds.checked_sub(shift)?
    } else {
        seconds.checked_add(shift)?
    };
    (hours < 24 && minutes < 60).then(|| Duration::from_secs(seconds))
}

/// Formats a time for [`parse_utc`]; fractions of a second are dropped.
pub fn display_utc(since_epoch: Duration) -> impl fmt::Display {
    Utc(since_epoch.as_secs())
}

struct Utc(u64);

/// Writes a time as a part of a file's name: `20260102T030405Z`.
pub fn compact_utc(since_epoch: Duration) -> String {
    display_utc(since_epoch).to_string().replace(['-', ':'], "")
}

/// Writes the time of the day, for a reader who knows the date: `03:04:05`.
pub fn clock_utc(since_epoch: Duration) -> String {
    let second = since_epoch.as_secs() % 86_400;
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0 / 86_400);
        let second = self.0 % 86_400;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Parses three numbers, each with exactly the given number of digits.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

/// Converts a date to days since 1970-01-01.
fn days_from_civil(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Converts days since 1970-01-01 to year, month and day.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_names() {
        fn check(seconds: u64, expected: &str) {
            assert_eq!(compact_utc(Duration::from_secs(seconds)), expected);
        }
        check(0, "19700101T000000Z");
        check(951_782_399, "20000228T235959Z");
        check(951_782_400, "20000229T000000Z");
        check(1_735_689_599, "20241231T235959Z");
        check(4_107_542_400, "21000301T000000Z");
    }

    #[test]
    fn times_of_the_day() {
        let check =
            |seconds, expected: &str| assert_eq!(clock_utc(Duration::from_secs(seconds)), expected);
        check(0, "00:00:00");
        check(951_782_399, "23:59:59");
        check(951_782_400 + 3 * 3600 + 4 * 60 + 5, "03:04:05");
    }

    #[test]
    fn times_read_and_write() {
        fn check(text: &str, seconds: u64) {
            assert_eq!(parse_utc(text), Some(Duration::from_secs(seconds)), "{text}");
            assert_eq!(display_utc(Duration::from_secs(seconds)).to_string(), text);
        }
        check("1970-01-01T00:00:00Z", 0);
        check("2000-02-28T23:59:59Z", 951_782_399);
        check("2000-02-29T00:00:00Z", 951_782_400);
        check("2024-12-31T23:59:59Z", 1_735_689_599);
        check("2100-03-01T00:00:00Z", 4_107_542_400);
        for wrong in [
            "",
            "2026-01-01",
            "2026-01-01T12:00:00",
            "2026-02-29T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-01-01T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-1-1T12:00:00Z",
            "2026-01-01T12:00:00.5Z",
            "+026-01-01T12:00:00Z",
        ] {
            assert_eq!(parse_utc(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_with_an_offset_read() {
        fn check(text: &str, utc: Option<&str>) {
            assert_eq!(parse_offset_time(text), utc.map(|utc| parse_utc(utc).unwrap()), "{text}");
        }
        check("2026-01-01T12:00:00Z", Some("2026-01-01T12:00:00Z"));
        check("2026-01-01T12:00:00.75Z", Some("2026-01-01T12:00:00Z"));
        check("2026-01-01T00:30:00+01:00", Some("2025-12-31T23:30:00Z"));
        check("2026-01-01T12:00:00-05:30", Some("2026-01-01T17:30:00Z"));
        check("2026-01-01T12:00:00", None);
        check("2026-01-01", None);
        check("2026-01-01T12:00:00+1", None);
        check("1970-01-01T00:00:00+01:00", None);
    }

    #[test]
    fn every_day_of_four_centuries() {
        for day in (0..146_097).step_by(7) {
            let (year, month, date) = civil_from_days(day);
            assert_eq!(days_from_civil(year, month, date), day);
        }
    }
}
