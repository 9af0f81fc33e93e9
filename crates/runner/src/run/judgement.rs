//! The judgement of a finished run: its steadiness, its validity and its expectations.

use rabbitscope_analysis::{ServiceRules, judge, service_failure, steadiness};
use rabbitscope_runs::{
    record::{Doubt, DoubtKind, RunRecord, SecondRow, Verdict},
    scenario::{PublisherGroup, Scenario},
};

/// Adds the conclusions from `record`, its seconds and the scenario's expectations.
pub(super) fn judged(record: RunRecord, series: &[SecondRow], scenario: &Scenario) -> RunRecord {
    let steadiness = steadiness(series);
    let mut doubts = record.doubts.clone();
    // A run that a limit ended may be too short to judge. That is no fault of the broker.
    let was_stopped = matches!(record.verdict, Verdict::Stopped { .. });
    if scenario.expect.steady
        && !was_stopped
        && steadiness.as_ref().is_none_or(|found| !found.steady)
    {
        let reason = steadiness.as_ref().map_or_else(
            || "the measured time was too short to judge steadiness".to_owned(),
            |found| found.sentence.clone(),
        );
        doubts.push(Doubt { kind: DoubtKind::NotSteady, reason });
    }
    let expectations = judge(&scenario.expect.that, &record, series);
    let verdict = match service_failure(&record, rules(scenario, record.load.counts.published)) {
        Some(reason) if record.verdict == Verdict::Completed => Verdict::Failed { reason },
        _ => record.verdict,
    };
    RunRecord { steadiness, doubts, expectations, verdict, ..record }
}

fn rules(scenario: &Scenario, published: u64) -> ServiceRules<'_> {
    // A transaction that never filled up was never committed, so the broker had nothing to answer.
    let commits = |size: u32| u64::from(size) <= published;
    let confirms = |group: &PublisherGroup| {
        group.confirm_window.is_some() || group.tx_size.is_some_and(commits)
    };
    ServiceRules {
        expected: &scenario.expect.that,
        has_confirms: scenario.publishers.iter().any(confirms),
        verifies: scenario.run.verify,
    }
}
