//! The place in a stream at which a group begins to read.

use std::time::SystemTime;

use rabbitscope_runs::scenario::{ConsumerGroup, FieldValue};
use rabbitscope_streams::Offset;

/// Returns the place that `x-stream-offset` names; the end without it.
pub(super) fn stream_offset(group: &ConsumerGroup) -> Offset {
    match group.arguments.get("x-stream-offset") {
        Some(FieldValue::Integer(offset)) => Offset::At(u64::try_from(*offset).unwrap_or(0)),
        Some(FieldValue::Time(time)) => millis(time.seconds),
        Some(FieldValue::Text(text)) => match text.as_str() {
            "first" => Offset::First,
            "last" => Offset::Last,
            ago => since(ago).map_or(Offset::Next, |span| millis(now().saturating_sub(span))),
        },
        _ => Offset::Next,
    }
}

/// Returns the seconds that a text such as `2h` means; `None` for `next`.
fn since(ago: &str) -> Option<u64> {
    const DAY: u64 = 24 * 60 * 60;
    let (number, unit) = ago.split_at(ago.len().checked_sub(1)?);
    let unit = match unit {
        "Y" => 365 * DAY,
        "M" => 30 * DAY,
        "D" => DAY,
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()?.saturating_mul(unit))
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn millis(seconds: u64) -> Offset {
    Offset::Timestamp(i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX))
}
