//! Consumers that get nothing, and the least evidence for saying so.

use rabbitscope_runs::{
    record::{RunRecord, SecondRow},
    scenario::Scenario,
};
use rabbitscope_text::{grouped, short_time};

/// Least time with consumers and accepted messages. Chosen: a delivery takes milliseconds, and no row covers less.
const LEAST_NANOS: u64 = 1_000_000_000;

/// Warns if consumers received nothing of the published messages. A routing key or a binding may be wrong.
pub(super) fn unconsumed(record: &RunRecord, scenario: &Scenario, series: &[SecondRow]) -> String {
    let counts = &record.load.counts;
    let Scenario { publishers, consumers, .. } = scenario;
    let is_silent = counts.published > 0 && counts.delivered.max(counts.consumed) == 0;
    if !is_silent || publishers.is_empty() || consumers.is_empty() {
        return String::new();
    }
    let start = consumers.iter().map(|group| group.start_delay).min().unwrap_or_default();
    let start = u64::try_from(start.as_nanos()).unwrap_or(u64::MAX);
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

/// Returns the time from the first second with an accepted message on in which consumers were there. `start` is theirs.
fn watched(series: &[SecondRow], start: u64) -> u64 {
    let is_idle = |row: &SecondRow| row.counts.accepted_or_written() == 0;
    let accepting = series.iter().position(|row| !is_idle(row)).unwrap_or(series.len());
    let length = |rows: &[SecondRow]| rows.iter().map(|row| row.interval_nanos).sum::<u64>();
    length(series).saturating_sub(start.max(length(&series[..accepting])))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::{
        record::{Counters, LoadTotals},
        scenario,
    };

    use super::*;

    const TOO_SHORT: &str = "too short to judge";
    const WRONG: &str = "NOTHING CONSUMED";

    fn row(accepted: u64, interval_nanos: u64) -> SecondRow {
        let mut counts = Counters { published: 10, ..Counters::default() };
        counts.accept(accepted);
        SecondRow { counts, interval_nanos, ..SecondRow::default() }
    }

    fn said(consumers: &str, series: &[SecondRow]) -> String {
        let text = format!(
            "name = 's'\nrun.duration = '1s'\nqueues = [{{ name = 'q' }}]\n\
             publishers = [{{ queue = 'q' }}]\nconsumers = [{consumers}]"
        );
        let scenario = scenario::parse(&text, "s", &[]).unwrap();
        let counts = Counters { published: 10, ..Counters::default() };
        let load = LoadTotals { counts, ..LoadTotals::default() };
        unconsumed(&RunRecord { load, ..RunRecord::default() }, &scenario, series)
    }

    #[track_caller]
    fn check(consumers: &str, series: &[SecondRow], expected: &str) {
        let text = said(consumers, series);
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.contains(WRONG), expected == WRONG, "{text}");
    }

    #[test]
    fn nothing_is_judged_by_less_than_a_second() {
        const SECOND: u64 = LEAST_NANOS;
        let at_once = "{ queue = 'q' }";
        check(at_once, &[row(10, SECOND)], WRONG);
        check(at_once, &[row(10, SECOND / 2)], TOO_SHORT);
        check(at_once, &[row(0, SECOND), row(10, SECOND / 2)], TOO_SHORT);
        check(at_once, &[row(0, SECOND), row(10, SECOND / 2), row(0, SECOND / 2)], WRONG);
        check(at_once, &[row(0, SECOND), row(0, SECOND)], TOO_SHORT);
        let later = "{ queue = 'q', start-delay = '1500ms' }, { queue = 'q', start-delay = '5s' }";
        check(later, &[row(10, SECOND), row(10, SECOND)], TOO_SHORT);
        check(later, &[row(10, SECOND), row(10, SECOND), row(10, SECOND)], WRONG);
        assert_eq!(said("", &[row(10, SECOND)]), "");
    }
}
