//! The broker's service during a run, judged and described.

use rabbitscope_runs::{
    record::{ExpectedTime, RunRecord, Service, SpanKind},
    scenario::{Expectation, Metric},
};

/// Largest share of the load without service, or held by an alarm, unless the scenario has its own limit.
const MAX_INTERRUPTED: f64 = 0.1;

/// The rules for a run's service.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceRules<'a> {
    /// The scenario's expectations. One of time without service, or of blocked time, replaces the rule for it.
    pub expected: &'a [Expectation],
    /// True if publishers asked for confirms.
    pub has_confirms: bool,
    /// True if deliveries had to be verified.
    pub verifies: bool,
}

impl ServiceRules<'_> {
    fn expects(&self, time: ExpectedTime) -> bool {
        self.expected.iter().any(|expectation| expectation.metric == Metric::Time(time))
    }
}

/// Returns the reason why the broker's service failed; absent if it did not.
pub fn service_failure(run: &RunRecord, rules: ServiceRules<'_>) -> Option<String> {
    let load = &run.load;
    let share = |nanos: u64| nanos as f64 / run.duration_nanos.max(1) as f64;
    let (without, blocked) = (load.counts.without_service_nanos, load.counts.alarm_nanos);
    let has_too_little =
        !rules.expects(ExpectedTime::WithoutService) && share(without) > MAX_INTERRUPTED;
    let is_held = !rules.expects(ExpectedTime::Blocked) && share(blocked) > MAX_INTERRUPTED;
    let unanswered = rules.has_confirms
        && load.counts.published > 0
        && load.counts.confirmed + load.counts.nacked == 0;
    let unchecked =
        rules.verifies && run.verification.as_ref().is_none_or(|found| found.accepted == 0);
    let reasons = [
        (run.service.ended_without || has_too_little).then(|| without_sentence(run)),
        is_held.then(|| blocked_sentence(run)),
        unanswered.then(|| format!("none of {} messages was confirmed", load.counts.published)),
        unchecked.then(|| "nothing was checked: the broker accepted no message".to_owned()),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Describes the service of a run: one sentence each for time without service and for alarms.
pub fn service_sentences(run: &RunRecord) -> Vec<String> {
    let load = &run.load;
    let without = (load.counts.without_service_nanos > 0 || run.service.ended_without)
        .then(|| without_sentence(run));
    let blocked = (load.counts.alarm_nanos > 0).then(|| blocked_sentence(run));
    without.into_iter().chain(blocked).collect()
}

fn without_sentence(run: &RunRecord) -> String {
    let end = if run.service.ended_without { ", at its end as well" } else { "" };
    let without = of_load(run, run.load.counts.without_service_nanos);
    // Silence is known in whole seconds only.
    let has_silence = run.service.spans.iter().any(|span| span.kind == SpanKind::Silent);
    let least = if has_silence { "at least " } else { "" };
    format!("the broker did not serve for {least}{without}{end}{}", why(&run.service, is_without))
}

fn blocked_sentence(run: &RunRecord) -> String {
    let blocked = of_load(run, run.load.counts.alarm_nanos);
    let why = why(&run.service, |kind| kind == SpanKind::Blocked);
    format!("an alarm of the broker held publishers for {blocked}{why}")
}

fn is_without(kind: SpanKind) -> bool {
    matches!(kind, SpanKind::Down | SpanKind::Silent)
}

/// Formats a time as a part of the load: `7.03 of 10.0 s of load (70 %)`.
fn of_load(run: &RunRecord, nanos: u64) -> String {
    let (part, whole) = (nanos as f64 / 1e9, run.duration_nanos as f64 / 1e9);
    let percent = 100.0 * part / whole.max(1e-9);
    format!("{part:.2} of {whole:.1} s of load ({percent:.0} %)")
}

/// Returns the reason of the longest of these spans.
fn why(service: &Service, is_meant: impl Fn(SpanKind) -> bool) -> String {
    let spans = service.spans.iter().filter(|span| is_meant(span.kind));
    let longest = spans.max_by_key(|span| span.to_nanos.saturating_sub(span.from_nanos));
    longest.map_or_else(String::new, |span| format!(": {}", span.reason))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::{
        record::{LoadTotals, ServiceSpan, Verification},
        scenario::{Comparison, Limit},
    };

    use rabbitscope_runs::record::Counters;

    use super::*;

    /// A run with ten seconds of load.
    fn run(without: u64, blocked: u64, ended_without: bool) -> RunRecord {
        let span = |kind, to_nanos, reason: &str| ServiceSpan {
            kind,
            from_nanos: 0,
            to_nanos,
            reason: reason.to_owned(),
        };
        let spans = vec![
            span(SpanKind::Down, 1, "a short loss"),
            span(SpanKind::Down, without.max(2), "refused"),
            span(SpanKind::Blocked, blocked, "low on memory"),
        ];
        RunRecord {
            duration_nanos: 10_000_000_000,
            load: LoadTotals {
                counts: Counters {
                    published: 5,
                    confirmed: 5,
                    without_service_nanos: without,
                    alarm_nanos: blocked,
                    ..Counters::default()
                },
                ..LoadTotals::default()
            },
            service: Service { ended_without, spans, ..Service::default() },
            ..RunRecord::default()
        }
    }

    #[track_caller]
    fn check(run: &RunRecord, rules: ServiceRules<'_>, expected: Option<&str>) {
        assert_eq!(service_failure(run, rules).as_deref(), expected);
    }

    #[test]
    fn a_tenth_may_be_missing_but_not_the_end() {
        let rules = ServiceRules::default();
        check(&run(1_000_000_000, 0, false), rules, None);
        let text = "the broker did not serve for 1.01 of 10.0 s of load (10 %): refused";
        check(&run(1_010_000_000, 0, false), rules, Some(text));
        let text = "the broker did not serve for 0.50 of 10.0 s of load (5 %), at its end as well: refused";
        check(&run(500_000_000, 0, true), rules, Some(text));
        let held = "an alarm of the broker held publishers for 5.50 of 10.0 s of load (55 %): low on memory";
        check(&run(0, 5_500_000_000, false), rules, Some(held));
    }

    #[test]
    fn what_the_scenario_expects_takes_the_place_of_the_rule() {
        let expected =
            [ExpectedTime::WithoutService, ExpectedTime::Blocked].map(|time| Expectation {
                metric: Metric::Time(time),
                comparison: Comparison::Below,
                limit: Limit::Percent(95.0),
            });
        let rules = ServiceRules { expected: &expected, ..ServiceRules::default() };
        check(&run(9_000_000_000, 9_000_000_000, false), rules, None);
        assert!(service_failure(&run(1, 0, true), rules).is_some(), "the end counts all the same");
    }

    #[test]
    fn nothing_confirmed_and_nothing_checked_are_no_success() {
        let confirming = ServiceRules { has_confirms: true, ..ServiceRules::default() };
        let load = LoadTotals {
            counts: Counters { published: 12, ..Counters::default() },
            ..LoadTotals::default()
        };
        let none = RunRecord { load: load.clone(), ..RunRecord::default() };
        check(&none, confirming, Some("none of 12 messages was confirmed"));
        check(&none, ServiceRules::default(), None);
        let refused = LoadTotals { counts: Counters { nacked: 12, ..load.counts.clone() }, ..load };
        check(&RunRecord { load: refused, ..RunRecord::default() }, confirming, None);
        let verifying = ServiceRules { verifies: true, ..ServiceRules::default() };
        let found = Verification::default();
        let unchecked = RunRecord { verification: Some(found.clone()), ..RunRecord::default() };
        let text = "nothing was checked: the broker accepted no message";
        check(&unchecked, verifying, Some(text));
        let found = Verification { accepted: 1, ..found };
        check(&RunRecord { verification: Some(found), ..unchecked }, verifying, None);
    }
}
