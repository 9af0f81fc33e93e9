//! Expectations of a run, compared with its measurements.

use rabbitscope_runs::{
    record::{
        ExpectationResult, ExpectedCount, ExpectedLatency, ExpectedRate, ExpectedTime, Latency,
        LoadTotals, Needs, Quantile, RunRecord, SecondRow,
    },
    scenario::{Comparison, Expectation, LatencyEnds, Limit, Metric},
};
use rabbitscope_text::{Unit, short_time};

use crate::rates::gauge_value;

/// Judges each expectation. Latencies, rates and gauges cover the measured time, counts the whole run. An expectation
/// without a measurement fails.
pub fn judge(
    expected: &[Expectation],
    run: &RunRecord,
    series: &[SecondRow],
) -> Vec<ExpectationResult> {
    expected.iter().map(|expectation| judge_one(expectation, run, series)).collect()
}

fn judge_one(
    expectation: &Expectation,
    run: &RunRecord,
    series: &[SecondRow],
) -> ExpectationResult {
    let Expectation { metric, comparison, limit } = expectation;
    let verdict = match (metric, limit) {
        (Metric::Latency(name, quantile), Limit::Nanos(limit)) => latency(run, *name, *quantile)
            .map(|nanos| compare(nanos, *comparison, *limit, short_time)),
        (Metric::Rate(messages), Limit::PerSecond(limit)) => rate(run, *messages)
            .map(|rate| compare(rate, *comparison, *limit, |rate| format!("{rate:.1}"))),
        (Metric::Count(count), _) if count.needs() == Needs::Verify && !has_verified(run) => None,
        (Metric::Count(ExpectedCount::Lost), limit) => lost(run, *comparison, *limit),
        (Metric::Count(ExpectedCount::Unconfirmed), limit) => {
            unconfirmed(&run.load, *comparison, *limit)
        }
        (Metric::Time(time), limit) => part_of_time(run, *time, *comparison, *limit),
        (Metric::Gauge(gauge, statistic), limit) => {
            let rows = series.iter().filter(|row| !row.warming && !row.draining);
            gauge_value(*gauge, *statistic, rows)
                .and_then(|value| gauge_within(value, gauge.id().unit, *comparison, *limit))
        }
        (Metric::Count(count), limit) => bounded(&run.load, *count, *comparison, *limit),
        _ => None,
    };
    let (measured, passed) = verdict.map_or((None, false), |(text, passed)| (Some(text), passed));
    let end = match metric {
        Metric::Latency(latency, _) => end_in_words(run, *latency),
        _ => None,
    };
    let text = match end {
        Some(end) => format!("{expectation}, {end}"),
        None => expectation.to_string(),
    };
    ExpectationResult { text, measured, passed }
}

fn bounded(
    load: &LoadTotals,
    count: ExpectedCount,
    comparison: Comparison,
    limit: Limit,
) -> Option<(String, bool)> {
    match limit {
        Limit::Count(limit) => {
            Some(compare(load.count(count), comparison, limit, |count| count.to_string()))
        }
        Limit::Percent(limit) => share(load, count)
            .map(|share| compare(share, comparison, limit, |share| format!("{share:.3}%"))),
        _ => None,
    }
}

/// Returns whether anything was verified, which needs an accepted message.
fn has_verified(run: &RunRecord) -> bool {
    run.verification.as_ref().is_some_and(|found| found.accepted > 0)
}

/// Adds the messages without an answer at the loss of their connection, unless they were sent again.
fn unconfirmed(load: &LoadTotals, comparison: Comparison, limit: Limit) -> Option<(String, bool)> {
    let at_losses = load.counts.unanswered.saturating_sub(load.counts.republished);
    let load = LoadTotals { unconfirmed: load.unconfirmed + at_losses, ..load.clone() };
    let (text, passed) = bounded(&load, ExpectedCount::Unconfirmed, comparison, limit)?;
    let aside = match at_losses {
        0 => String::new(),
        count => format!(", {count} of them when their connection was lost"),
    };
    Some((text + &aside, passed))
}

/// Judges a share of the load's time, including the warm-up.
fn part_of_time(
    run: &RunRecord,
    time: ExpectedTime,
    comparison: Comparison,
    limit: Limit,
) -> Option<(String, bool)> {
    let nanos = time.nanos(&run.load.counts);
    let share =
        100.0 * nanos as f64 / (run.duration_nanos > 0).then_some(run.duration_nanos)? as f64;
    Some(match limit {
        Limit::Nanos(limit) => compare(nanos, comparison, limit, short_time),
        Limit::Percent(limit) => compare(share, comparison, limit, |share| format!("{share:.1}%")),
        _ => return None,
    })
}

/// Judges lost messages. The expectation holds only if it holds for any fate of the messages that were not judged.
fn lost(run: &RunRecord, comparison: Comparison, limit: Limit) -> Option<(String, bool)> {
    let found = run.verification.as_ref().filter(|found| found.accepted > 0)?;
    let with = |lost: u64| {
        let load = LoadTotals { lost, ..run.load.clone() };
        bounded(&load, ExpectedCount::Lost, comparison, limit)
    };
    let (text, least) = with(found.lost)?;
    let (_, most) = with(found.lost + found.not_judged)?;
    let asides = [(found.not_judged, "not judged"), (found.still_queued, "still in the queue")];
    let asides = asides.into_iter().filter(|(count, _)| *count > 0);
    let text = asides.fold(text, |text, (count, what)| format!("{text}, {count} {what}"));
    Some((text, least && most))
}

fn compare<N: PartialOrd + Copy>(
    measured: N,
    comparison: Comparison,
    limit: N,
    write: impl Fn(N) -> String,
) -> (String, bool) {
    (write(measured), comparison.holds(measured, limit))
}

fn gauge_within(
    value: f64,
    unit: Unit,
    comparison: Comparison,
    limit: Limit,
) -> Option<(String, bool)> {
    let limit = match limit {
        Limit::Bytes(limit) => limit as f64,
        Limit::Number(limit) => limit,
        _ => return None,
    };
    Some(compare(value, comparison, limit, |value| unit.display(value)))
}

/// Returns a figure of a latency in nanoseconds; absent without measurements.
pub(crate) fn latency(
    run: &RunRecord,
    latency: ExpectedLatency,
    quantile: Quantile,
) -> Option<u64> {
    let figures = run.latency(recorded_latency(run, latency)?)?;
    (figures.percentiles.count > 0).then(|| figures.value(quantile))
}

/// The latency of the run that a limit means; absent where the run does not know it. An older run knows of messages
/// that they were delivered.
pub fn recorded_latency(run: &RunRecord, latency: ExpectedLatency) -> Option<Latency> {
    use ExpectedLatency::{Processed, ProcessedIntended, Settled, SettledIntended};
    let is_later = matches!(latency, Processed | ProcessedIntended | Settled | SettledIntended);
    (!is_later || knows_ends(run)).then(|| latency_ends(run).recorded(latency))
}

/// The end that an end-to-end latency has in a run, in words; absent for other latencies.
pub fn end_in_words(run: &RunRecord, latency: ExpectedLatency) -> Option<&'static str> {
    let words = latency_ends(run).in_words(latency)?;
    Some(if knows_ends(run) { words } else { "until delivered" })
}

/// The ends that a run tells apart.
fn latency_ends(run: &RunRecord) -> LatencyEnds {
    let has = |ends: [Latency; 2]| ends.iter().any(|end| run.latency(*end).is_some());
    LatencyEnds {
        processed: has([Latency::Processed, Latency::ProcessedIntended]),
        settled: has([Latency::Settled, Latency::SettledIntended]),
    }
}

/// Runs of earlier versions count no deliveries.
fn knows_ends(run: &RunRecord) -> bool {
    let counts = &run.load.counts;
    counts.delivered >= counts.consumed
}

fn rate(run: &RunRecord, messages: ExpectedRate) -> Option<f64> {
    let count = messages.count(&run.measured.load.counts);
    let seconds = run.measured.duration_nanos as f64 / 1e9;
    (seconds > 0.0).then(|| count as f64 / seconds)
}

/// Returns a count's share in percent; absent if its whole is 0.
fn share(load: &LoadTotals, count: ExpectedCount) -> Option<f64> {
    let whole = Some(count.whole(&load.counts)).filter(|whole| *whole > 0)?;
    Some(100.0 * load.count(count) as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Measured, Verification};

    use rabbitscope_runs::record::{Counters, LatencyFigures, LatencySummary, Percentiles};

    use super::*;

    fn run() -> RunRecord {
        let load = LoadTotals {
            lost: 10,
            counts: Counters {
                published: 20_000,
                accepted: 10_000.into(),
                consumed: 9_990,
                scheduled: 20_000,
                late: 100,
                ..Counters::default()
            },
            ..LoadTotals::default()
        };
        let measured =
            Measured { duration_nanos: 2_000_000_000, load: load.clone(), ..Measured::default() };
        let confirm = LatencyFigures {
            name: "confirm".to_owned(),
            percentiles: Percentiles {
                count: 10_000,
                p99: 19_999_999,
                max: 31_200_000,
                ..Percentiles::default()
            },
            mean: 1_499.6,
            ..LatencyFigures::default()
        };
        let verification = Some(Verification { accepted: 99, lost: 10, ..Verification::default() });
        let latencies = vec![LatencySummary { figures: confirm, ..LatencySummary::default() }];
        RunRecord { load, measured, latencies, verification, ..RunRecord::default() }
    }

    #[test]
    fn every_kind_of_limit() {
        fn check(
            metric: Metric,
            comparison: Comparison,
            limit: Limit,
            measured: Option<&str>,
            passed: bool,
        ) {
            let expectation = Expectation { metric, comparison, limit };
            let result = judge(&[expectation], &run(), &[]).remove(0);
            assert_eq!(
                (result.measured.as_deref(), result.passed),
                (measured, passed),
                "{result:?}"
            );
        }
        use Comparison::{AtLeast, AtMost, Below, Equal};
        let confirm = |quantile| Metric::Latency(ExpectedLatency::Confirm, quantile);
        let limit = Limit::Nanos(20_000_000);
        check(confirm(Quantile::P99), Below, limit, Some("20.0 ms"), true);
        check(confirm(Quantile::Max), AtMost, limit, Some("31.2 ms"), false);
        check(confirm(Quantile::Mean), AtMost, Limit::Nanos(1500), Some("1.50 µs"), true);
        let end_to_end = Metric::Latency(ExpectedLatency::EndToEnd, Quantile::P99);
        check(end_to_end, Below, limit, None, false);
        let rate = Metric::Rate(ExpectedRate::Published);
        check(rate, AtLeast, Limit::PerSecond(5000.0), Some("5000.0"), true);
        check(rate, AtLeast, Limit::PerSecond(5000.1), Some("5000.0"), false);
        check(Metric::Count(ExpectedCount::Lost), Equal, Limit::Count(0), Some("10"), false);
        check(Metric::Count(ExpectedCount::Nacked), Equal, Limit::Count(0), Some("0"), true);
        check(
            Metric::Count(ExpectedCount::Lost),
            AtMost,
            Limit::Percent(0.1),
            Some("0.100%"),
            true,
        );
        check(
            Metric::Count(ExpectedCount::Late),
            Below,
            Limit::Percent(0.5),
            Some("0.500%"),
            false,
        );
        let none = RunRecord::default();
        let late = Expectation {
            metric: Metric::Count(ExpectedCount::Late),
            comparison: Below,
            limit: Limit::Percent(1.0),
        };
        let result = judge(&[late], &none, &[]).remove(0);
        assert_eq!(result.measured, None, "no schedule, no share");
        assert_eq!(result.text, "late < 1%");
    }

    #[test]
    fn what_has_no_answer_is_unconfirmed() {
        fn check(unanswered: u64, republished: u64, expected: (&str, bool)) {
            let load = LoadTotals {
                unconfirmed: 2,
                counts: Counters { unanswered, republished, ..Counters::default() },
                ..LoadTotals::default()
            };
            let run = RunRecord { load, ..run() };
            let (metric, limit) = (Metric::Count(ExpectedCount::Unconfirmed), Limit::Count(2));
            let most = Expectation { metric, comparison: Comparison::AtMost, limit };
            let result = judge(&[most], &run, &[]).remove(0);
            assert_eq!((result.measured.as_deref(), result.passed), (Some(expected.0), expected.1));
        }
        check(0, 0, ("2", true));
        check(91, 0, ("93, 91 of them when their connection was lost", false));
        check(91, 91, ("2", true));
    }

    #[test]
    fn time_without_service_is_compared() {
        fn check(time: ExpectedTime, limit: Limit, expected: (&str, bool)) {
            let load = LoadTotals {
                counts: Counters {
                    without_service_nanos: 3_000_000_000,
                    alarm_nanos: 500_000_000,
                    ..Counters::default()
                },
                ..LoadTotals::default()
            };
            let run = RunRecord { load, duration_nanos: 10_000_000_000, ..run() };
            let metric = Metric::Time(time);
            let below = Expectation { metric, comparison: Comparison::Below, limit };
            let result = judge(&[below], &run, &[]).remove(0);
            assert_eq!((result.measured.as_deref(), result.passed), (Some(expected.0), expected.1));
        }
        check(ExpectedTime::WithoutService, Limit::Nanos(4_000_000_000), ("3.00 s", true));
        check(ExpectedTime::WithoutService, Limit::Percent(10.0), ("30.0%", false));
        check(ExpectedTime::Blocked, Limit::Percent(10.0), ("5.0%", true));
    }

    #[test]
    fn what_could_not_be_judged_may_be_lost() {
        fn check(lost: u64, not_judged: u64, comparison: Comparison, expected: (&str, bool)) {
            let verification = Verification {
                accepted: 99,
                lost,
                not_judged,
                still_queued: 3,
                ..Verification::default()
            };
            let run = RunRecord { verification: Some(verification), ..run() };
            let limit = Limit::Count(5);
            let expectation =
                Expectation { metric: Metric::Count(ExpectedCount::Lost), comparison, limit };
            let result = judge(&[expectation], &run, &[]).remove(0);
            assert_eq!((result.measured.as_deref(), result.passed), (Some(expected.0), expected.1));
        }
        check(5, 0, Comparison::AtMost, ("5, 3 still in the queue", true));
        check(4, 1, Comparison::AtMost, ("4, 1 not judged, 3 still in the queue", true));
        check(4, 2, Comparison::AtMost, ("4, 2 not judged, 3 still in the queue", false));
        check(5, 2, Comparison::Equal, ("5, 2 not judged, 3 still in the queue", false));
        for verification in [None, Some(Verification::default())] {
            let unchecked = RunRecord { verification, ..run() };
            for count in [ExpectedCount::Lost, ExpectedCount::Duplicates, ExpectedCount::OutOfOrder]
            {
                let (metric, limit) = (Metric::Count(count), Limit::Count(0));
                let none = Expectation { metric, comparison: Comparison::Equal, limit };
                let result = judge(&[none], &unchecked, &[]).remove(0);
                assert_eq!((result.measured, result.passed), (None, false), "{metric}");
            }
        }
    }

    #[test]
    fn gauges_have_limits_in_their_unit() {
        let row = SecondRow {
            interval_nanos: 1_000_000_000,
            broker_rss_bytes: Some(1 << 30),
            ..SecondRow::default()
        };
        let check = |rows: &[SecondRow], expected: (Option<&str>, bool)| {
            let metric = Metric::from_name("broker.memory.max").unwrap();
            let (comparison, limit) = (Comparison::AtMost, Limit::Bytes(1 << 30));
            let result =
                judge(&[Expectation { metric, comparison, limit }], &run(), rows).remove(0);
            assert_eq!((result.measured.as_deref(), result.passed), expected);
        };
        check(std::slice::from_ref(&row), (Some("1.0 GiB"), true));
        check(&[SecondRow { warming: true, ..row }], (None, false));
    }
}
