//! Consumers that get nothing, and the least evidence for saying so.

use rabbitscope_runs::record::{RunRecord, SecondRow};
use rabbitscope_text::{grouped, parse_duration, short_time};
use serde_json::Value;

/// Least time with consumers and accepted messages. Chosen: a delivery takes milliseconds, and no row covers less.
const LEAST_NANOS: u64 = 1_000_000_000;

/// Warns if consumers received nothing of the published messages. A routing key or a binding may be wrong.
pub(super) fn unconsumed(record: &RunRecord, series: &[SecondRow]) -> String {
    let counts = &record.load.counts;
    let groups = |key: &str| record.scenario[key].as_array().map_or(&[][..], Vec::as_slice);
    let is_silent = counts.published > 0 && counts.delivered.max(counts.consumed) == 0;
    if !is_silent || groups("publishers").is_empty() || groups("consumers").is_empty() {
        return String::new();
    }
    let start = groups("consumers").iter().map(start_of).min().unwrap_or(0);
    let watched = watched(series, start);
    if watched < LEAST_NANOS {
        return format!(
            "Nothing was consumed, and the run is too short to judge that: consumers and accepted messages were there \
             together for {} of the least {}\n",
            short_time(watched),
            short_time(LEAST_NANOS)
        );
    }
    format!(
        "NOTHING CONSUMED: consumers received none of {} published messages; compare the routing keys and headers of \
         publishers with the bindings of the consumed queues (`mandatory = true` counts unroutable messages)\n",
        grouped(counts.published)
    )
}

/// Returns the start of a group's first consumer, in nanoseconds of the load.
fn start_of(group: &Value) -> u64 {
    let delay = group["start-delay"].as_str().and_then(|text| parse_duration(text).ok());
    delay.map_or(0, |delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the time from the first second with an accepted message on in which consumers were there. `start` is theirs.
fn watched(series: &[SecondRow], start: u64) -> u64 {
    let is_idle = |row: &SecondRow| row.counts.accepted_or_written() == 0;
    let accepting = series.iter().position(|row| !is_idle(row)).unwrap_or(series.len());
    let length = |rows: &[SecondRow]| rows.iter().map(|row| row.interval_nanos).sum::<u64>();
    length(series).saturating_sub(start.max(length(&series[..accepting])))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, LoadTotals};

    use super::*;

    const TOO_SHORT: &str = "too short to judge";
    const WRONG: &str = "NOTHING CONSUMED";

    fn row(accepted: u64, interval_nanos: u64) -> SecondRow {
        let mut counts = Counters { published: 10, ..Counters::default() };
        counts.accept(accepted);
        SecondRow { counts, interval_nanos, ..SecondRow::default() }
    }

    fn said(consumers: &Value, series: &[SecondRow]) -> String {
        let scenario = serde_json::json!({ "publishers": [{}], "consumers": consumers });
        let counts = Counters { published: 10, ..Counters::default() };
        let load = LoadTotals { counts, ..LoadTotals::default() };
        unconsumed(&RunRecord { scenario, load, ..RunRecord::default() }, series)
    }

    #[track_caller]
    fn check(consumers: &Value, series: &[SecondRow], expected: &str) {
        let text = said(consumers, series);
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.contains(WRONG), expected == WRONG, "{text}");
    }

    #[test]
    fn nothing_is_judged_by_less_than_a_second() {
        const SECOND: u64 = LEAST_NANOS;
        let at_once = serde_json::json!([{}]);
        check(&at_once, &[row(10, SECOND)], WRONG);
        check(&at_once, &[row(10, SECOND / 2)], TOO_SHORT);
        check(&at_once, &[row(0, SECOND), row(10, SECOND / 2)], TOO_SHORT);
        check(&at_once, &[row(0, SECOND), row(10, SECOND / 2), row(0, SECOND / 2)], WRONG);
        check(&at_once, &[row(0, SECOND), row(0, SECOND)], TOO_SHORT);
        let later = serde_json::json!([{ "start-delay": "1500ms" }, { "start-delay": "5s" }]);
        check(&later, &[row(10, SECOND), row(10, SECOND)], TOO_SHORT);
        check(&later, &[row(10, SECOND), row(10, SECOND), row(10, SECOND)], WRONG);
        assert_eq!(said(&serde_json::json!([]), &[row(10, SECOND)]), "");
    }
}
