//! The judgement of a step: passed, failed, or not valid.

use std::time::Duration;

use rabbitscope_runs::{
    capacity::StepVerdict,
    record::{DoubtKind, ExpectationResult, ExpectedLatency, RunRecord, SecondRow, Verdict},
    scenario::{Expectation, Limit, Metric},
};

/// The smallest share of the offered messages that must be sent, and accepted, in a step that passes.
const ACHIEVED: f64 = 0.99;

/// The largest share of the offered messages that may pile up in a step that passes. A rate that passed is served
/// except for this share.
pub(super) const GROWTH: f64 = 0.01;

/// Messages of this much time may also pile up in a step far from the limit. A hiccup in a short step is no growth.
const HICCUP_SECONDS: f64 = 0.15;

/// A step of this length distinguishes such a hiccup from growth.
pub const CLEAR_STEP: Duration = Duration::from_secs(15);

/// Growth below this share does not show in a shorter step, either.
const CLEAR_GROWTH: f64 = GROWTH / 2.0;

/// A failed step is not valid if the host took more than this share of the machine's CPU time meanwhile. Equals the
/// default of `max-stolen` of experiments.
const STOLEN: f64 = 0.05;

/// A latency above its limit is the client's fault if the client itself delayed messages by this share of the limit.
/// The rest of the latency must be within the limit.
const OWN_DELAY: f64 = 0.5;

/// The terms of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepTerms<'a> {
    /// Messages per second that the schedules asked for.
    pub offered: f64,
    /// The limits that must hold.
    pub limits: &'a [Expectation],
    /// Published messages are consumed as well.
    pub has_consumers: bool,
    /// The share of the machine's CPU time that its host took away, if known.
    pub stolen: Option<f64>,
    /// The step helps to locate the limit, so it must not pass merely because it is short.
    pub is_near_limit: bool,
}

/// The measurements and the verdict of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepMeasurements {
    /// Messages per second that the schedules asked for.
    pub offered: f64,
    /// Messages per second that the broker accepted, or that entered a confirm window; see [`RunRecord`].
    pub achieved: f64,
    /// Growth of the backlog, in messages per second.
    pub backlog_growth: f64,
    /// The verdict.
    pub verdict: StepVerdict,
    /// The reasons why it did not pass.
    pub reasons: Vec<String>,
}

/// Judges a run of constant rate by its limits, the broker's service, the reached rate, the backlog and the client's
/// own share.
pub fn judge(terms: &StepTerms<'_>, record: &RunRecord, series: &[SecondRow]) -> StepMeasurements {
    let StepTerms { offered, limits, has_consumers, stolen, is_near_limit } = *terms;
    let seconds = record.measured.duration_nanos as f64 / 1e9;
    let rate = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let sent = rate(record.measured.load.counts.published);
    let achieved = rate(accepted(record, series));
    let growth = backlog_growth(series, has_consumers);
    let missed = crate::judge(limits, record, series).into_iter().filter(|result| !result.passed);
    let reason = |missed: ExpectationResult| match missed.measured {
        Some(measured) => format!("{}: measured {measured}", missed.text),
        None => format!("{}: nothing was measured", missed.text),
    };
    let mut reasons: Vec<String> = missed.map(reason).collect();
    if let Verdict::Failed { reason } = &record.verdict {
        reasons.push(reason.clone());
    }
    let share = |rate: f64| 100.0 * rate / offered;
    if sent < ACHIEVED * offered {
        let share = share(sent);
        reasons.push(format!("only {share:.1} % of the messages were sent on time"));
    } else if achieved < ACHIEVED * offered {
        let share = share(achieved);
        reasons.push(format!("the broker accepted only {share:.1} % of the messages on time"));
    }
    let share = growth / offered;
    if is_near_limit && reasons.is_empty() && is_unclear(share, seconds) {
        let reason = format!(
            "messages may have piled up, by {growth:.1} every second; {seconds:.0} s are too short to be sure"
        );
        let (verdict, reasons) = (StepVerdict::TooShort, vec![reason]);
        return StepMeasurements { offered, achieved, backlog_growth: growth, verdict, reasons };
    }
    if share > GROWTH.max(hiccup(seconds)) {
        reasons.push(format!("messages piled up, by {growth:.0} every second"));
    }
    let verdict = match not_valid(limits, record).or_else(|| disturbed(stolen)) {
        Some((verdict, reason)) if !reasons.is_empty() || !may_pass(verdict) => {
            reasons.push(reason);
            verdict
        }
        _ if reasons.is_empty() => StepVerdict::Passed,
        _ => StepVerdict::Failed,
    };
    StepMeasurements { offered, achieved, backlog_growth: growth, verdict, reasons }
}

/// Counts the messages that the broker accepted or that entered confirm windows, whose growth is judged separately. In
/// files of older versions, counts the written messages.
fn accepted(record: &RunRecord, series: &[SecondRow]) -> u64 {
    let counts = &record.measured.load.counts;
    let Some(accepted) = counts.accepted.get() else { return counts.published };
    let latest = |is_warming: bool| {
        let mut rows = series.iter().filter(|row| !row.draining && row.warming == is_warming);
        rows.next_back().map_or(0, |row| row.unconfirmed)
    };
    (accepted + latest(false)).saturating_sub(latest(true))
}

/// Returns the share of the offered messages that a hiccup adds.
fn hiccup(seconds: f64) -> f64 {
    HICCUP_SECONDS / seconds.max(1.0)
}

/// Returns whether growth by this share may be a hiccup, or whether a hiccup may have hidden it.
fn is_unclear(share: f64, seconds: f64) -> bool {
    // The measured time of a step never equals the requested time exactly.
    let is_short = seconds < 0.98 * CLEAR_STEP.as_secs_f64();
    is_short && share > CLEAR_GROWTH && share <= hiccup(seconds).max(2.0 * GROWTH)
}

/// Returns the reason why a step says nothing about the broker, if there is one.
fn not_valid(limits: &[Expectation], record: &RunRecord) -> Option<(StepVerdict, String)> {
    if let Verdict::Aborted { reason } = &record.verdict {
        return Some((StepVerdict::CutShort, reason.clone()));
    }
    let limited = record.doubts.iter().find(|doubt| doubt.kind == DoubtKind::ClientLimited);
    if let Some(doubt) = limited {
        return Some((StepVerdict::ClientLimited, doubt.reason.clone()));
    }
    let own = limits.iter().find_map(|limit| own_delay(limit, record))?;
    Some((StepVerdict::Stalled, format!("the load generator itself delayed messages: {own}")))
}

fn disturbed(stolen: Option<f64>) -> Option<(StepVerdict, String)> {
    let stolen = stolen.filter(|stolen| *stolen > STOLEN)?;
    let percent = 100.0 * stolen;
    Some((StepVerdict::Disturbed, format!("the host took {percent:.0} % of the CPU time away")))
}

/// Returns whether a step within its limits passes despite this verdict: a disturbance only makes a step slower.
fn may_pass(verdict: StepVerdict) -> bool {
    matches!(verdict, StepVerdict::Stalled | StepVerdict::Disturbed)
}

/// Returns the client's own delay at the same percentile, for a latency from the schedule; absent if it was small.
fn own_delay(limit: &Expectation, record: &RunRecord) -> Option<String> {
    let (Metric::Latency(latency, quantile), Limit::Nanos(most)) = (limit.metric, limit.limit)
    else {
        return None;
    };
    if !latency.is_intended() {
        return None;
    }
    let nanos = crate::expectations::latency(record, ExpectedLatency::ClientDelay, quantile)?;
    let measured = crate::expectations::latency(record, latency, quantile)?;
    let rest_holds = limit.comparison.holds(measured.saturating_sub(nanos), most);
    let is_much = rest_holds && nanos as f64 >= OWN_DELAY * most as f64;
    is_much.then(|| format!("client-delay.{} = {:.1} ms", quantile.name(), nanos as f64 / 1e6))
}

/// Returns the growth of the backlog in messages per second. It is the largest Theil–Sen slope of three counts:
/// unconfirmed messages, messages written but not accepted, and messages written but not consumed.
pub fn backlog_growth(series: &[SecondRow], has_consumers: bool) -> f64 {
    let rows: Vec<&SecondRow> = series.iter().filter(|row| !row.draining && !row.warming).collect();
    let at = |row: &SecondRow| f64::from(row.second) + row.interval_nanos as f64 / 1e9;
    let unconfirmed: Vec<_> = rows.iter().map(|row| (at(row), row.unconfirmed as f64)).collect();
    let mut left = 0.0;
    let waiting = rows.iter().map(|row| {
        left += row.counts.published as f64 - row.counts.consumed as f64;
        (at(row), left)
    });
    let waiting: Vec<_> = if has_consumers { waiting.collect() } else { Vec::new() };
    let mut behind = 0.0;
    let unaccepted = rows.iter().map(|row| {
        behind += row.counts.published as f64 - row.counts.accepted_or_written() as f64;
        (at(row), behind)
    });
    let unaccepted: Vec<_> = unaccepted.collect();
    slope(&unconfirmed).max(slope(&waiting)).max(slope(&unaccepted))
}

/// Returns the median of the slopes between all pairs of points; 0 for fewer than three points.
fn slope(points: &[(f64, f64)]) -> f64 {
    if points.len() < 3 {
        return 0.0;
    }
    let pairs = points.iter().enumerate().flat_map(|(index, (x, y))| {
        points[index + 1..].iter().map(move |(later_x, later_y)| (later_y - y) / (later_x - x))
    });
    let mut slopes: Vec<f64> = pairs.filter(|slope| slope.is_finite()).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    match (slopes.get(slopes.len() / 2), slopes.get(slopes.len().saturating_sub(1) / 2)) {
        (Some(upper), Some(lower)) => f64::midpoint(*lower, *upper),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::{
        record::{
            Doubt, LatencyFigures, LatencySummary, LoadTotals, Measured, Percentiles, Quantile,
        },
        scenario::{Comparison, Limit, Metric},
    };

    use rabbitscope_runs::record::Counters;

    use super::*;

    fn latency(name: String, p99: u64) -> LatencySummary {
        let percentiles = Percentiles { count: 9, p99, ..Percentiles::default() };
        let figures = LatencyFigures { name, percentiles, ..LatencyFigures::default() };
        LatencySummary { figures, ..LatencySummary::default() }
    }

    fn below_20_ms() -> Expectation {
        let metric = Metric::Latency(ExpectedLatency::ConfirmIntended, Quantile::P99);
        Expectation { metric, comparison: Comparison::Below, limit: Limit::Nanos(20_000_000) }
    }

    fn rows(unconfirmed: &[u64], consumed: u64) -> Vec<SecondRow> {
        (0..)
            .zip(unconfirmed)
            .map(|(second, unconfirmed)| SecondRow {
                second,
                interval_nanos: 1_000_000_000,
                unconfirmed: *unconfirmed,
                counts: Counters {
                    published: 1000,
                    accepted: 1000.into(),
                    consumed,
                    ..Counters::default()
                },
                ..SecondRow::default()
            })
            .collect()
    }

    fn record(published: u64, passed: bool, limited: bool) -> RunRecord {
        let doubt = Doubt { kind: DoubtKind::ClientLimited, reason: "no CPU left".to_owned() };
        let p99 = if passed { 19_000_000 } else { 31_000_000 };
        let name = "confirm-intended".to_owned();
        RunRecord {
            measured: Measured {
                duration_nanos: 10_000_000_000,
                load: LoadTotals {
                    counts: Counters {
                        published,
                        accepted: published.into(),
                        ..Counters::default()
                    },
                    ..LoadTotals::default()
                },
                ..Measured::default()
            },
            latencies: vec![latency(name, p99)],
            doubts: if limited { vec![doubt] } else { Vec::new() },
            ..RunRecord::default()
        }
    }

    fn terms(limits: &[Expectation], stolen: Option<f64>) -> StepTerms<'_> {
        let (offered, has_consumers, is_near_limit) = (1000.0, true, false);
        StepTerms { offered, limits, has_consumers, stolen, is_near_limit }
    }

    #[test]
    fn a_short_step_near_the_limit_does_not_pass_for_its_length() {
        fn check(seconds: u64, consumed: u64, is_near_limit: bool, expected: StepVerdict) {
            let series = rows(&vec![0; usize::try_from(seconds).unwrap()], consumed);
            let mut record = record(1000 * seconds, true, false);
            record.measured.duration_nanos = seconds * 1_000_000_000;
            let terms = StepTerms { is_near_limit, ..terms(&[], None) };
            assert_eq!(judge(&terms, &record, &series).verdict, expected, "{seconds} {consumed}");
        }
        check(3, 960, false, StepVerdict::Passed);
        check(3, 960, true, StepVerdict::TooShort);
        check(3, 998, true, StepVerdict::Passed);
        check(3, 940, true, StepVerdict::Failed);
        check(13, 975, true, StepVerdict::Failed);
        check(13, 985, true, StepVerdict::TooShort);
        check(13, 993, true, StepVerdict::TooShort);
        check(15, 993, true, StepVerdict::Passed);
        check(15, 985, true, StepVerdict::Failed);
    }

    #[test]
    fn every_way_to_fail_is_named() {
        fn check(record: &RunRecord, series: &[SecondRow], expected: (StepVerdict, &str)) {
            let limits = [below_20_ms()];
            let observed = judge(&terms(&limits, None), record, series);
            assert_eq!(observed.verdict, expected.0, "{observed:?}");
            assert!(observed.reasons.join("; ").contains(expected.1), "{observed:?}");
            assert_eq!(observed.reasons.is_empty(), expected.1.is_empty(), "{observed:?}");
        }
        let level = rows(&[5, 6, 5, 4, 5, 6], 1000);
        check(&record(9_950, true, false), &level, (StepVerdict::Passed, ""));
        check(&record(9_850, true, false), &level, (StepVerdict::Failed, "98.5 %"));
        check(&record(10_000, false, false), &level, (StepVerdict::Failed, "measured 31"));
        let mut unmeasured = record(10_000, true, false);
        unmeasured.latencies.clear();
        check(&unmeasured, &level, (StepVerdict::Failed, "nothing was measured"));
        let growing = rows(&[0, 40, 70, 110, 160, 200], 1000);
        check(&record(10_000, true, false), &growing, (StepVerdict::Failed, "piled up, by 40 "));
        let mut interrupted = record(10_000, true, false);
        interrupted.verdict = Verdict::Failed { reason: "an alarm for 4 s".to_owned() };
        check(&interrupted, &level, (StepVerdict::Failed, "an alarm for 4 s"));
        let unread = rows(&[0; 6], 900);
        check(&record(10_000, true, false), &unread, (StepVerdict::Failed, "piled up, by 100 "));
        check(&record(5_000, true, true), &level, (StepVerdict::ClientLimited, "no CPU left"));
        let mut cut_short = record(5_000, true, false);
        cut_short.verdict = Verdict::Aborted { reason: "connection lost".to_owned() };
        check(&cut_short, &level, (StepVerdict::CutShort, "connection lost"));
    }

    #[test]
    fn what_only_sockets_took_was_not_accepted() {
        let series = |accepted: &[u64], unconfirmed: u64| {
            let mut rows = rows(&vec![unconfirmed; accepted.len()], 1000);
            rows.iter_mut()
                .zip(accepted)
                .for_each(|(row, accepted)| row.counts.accepted = (*accepted).into());
            rows
        };
        let record = |accepted: u64| {
            let mut record = record(10_000, true, false);
            record.measured.load.counts.accepted = accepted.into();
            record
        };
        let check = |record: &RunRecord, series: &[SecondRow], expected: &str| {
            let terms = StepTerms { has_consumers: false, ..terms(&[], None) };
            assert_eq!(judge(&terms, record, series).reasons.join("; "), expected);
        };
        // Messages are on their way, but their number does not grow.
        check(&record(9_960), &series(&[960, 1000, 1000, 1000], 0), "");
        let held = "the broker accepted only 96.0 % of the messages on time";
        check(&record(9_600), &series(&[600, 1000, 1000, 1000], 0), held);
        check(&record(9_600), &series(&[600, 1000, 1000, 1000], 350), "");
        let slow = "the broker accepted only 70.0 % of the messages on time; messages piled up, by 300 every second";
        check(&record(7_000), &series(&[700; 5], 0), slow);
    }

    #[test]
    fn what_the_client_delayed_is_not_held_against_the_broker() {
        fn check(own_p99: u64, passed: bool, expected: StepVerdict) {
            let limits = [below_20_ms()];
            let mut record = record(10_000, passed, false);
            let name = "client-delay".to_owned();
            record.latencies.push(latency(name, own_p99));
            let series = rows(&[5, 6, 5, 4, 5, 6], 1000);
            let observed = judge(&terms(&limits, None), &record, &series);
            assert_eq!(observed.verdict, expected, "{observed:?}");
        }
        check(15_000_000, false, StepVerdict::Stalled);
        check(9_000_000, false, StepVerdict::Failed);
        check(10_500_000, false, StepVerdict::Failed);
        check(15_000_000, true, StepVerdict::Passed);
    }

    #[test]
    fn what_the_host_took_is_not_held_against_the_broker() {
        let check = |published: u64, stolen: Option<f64>, expected: StepVerdict| {
            let series = rows(&[5, 6, 5, 4, 5, 6], 1000);
            let record = record(published, true, false);
            let observed = judge(&terms(&[], stolen), &record, &series);
            assert_eq!(observed.verdict, expected, "{observed:?}");
        };
        check(9_000, None, StepVerdict::Failed);
        check(9_000, Some(0.04), StepVerdict::Failed);
        check(9_000, Some(0.3), StepVerdict::Disturbed);
        check(10_000, Some(0.3), StepVerdict::Passed);
    }

    #[test]
    fn only_the_measured_seconds_count() {
        let mut series = rows(&[0, 500, 1000, 5, 5, 5, 5], 1000);
        series[..3].iter_mut().for_each(|row| row.warming = true);
        series[6].draining = true;
        assert!(backlog_growth(&series, true).abs() < 1e-9);
        assert!(backlog_growth(&series[3..5], true).abs() < 1e-9, "too few to tell");
    }
}
