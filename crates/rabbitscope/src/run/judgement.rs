//! The judgement of a finished run: its steadiness, its validity and its expectations.

use rabbitscope_analysis::{ServiceRules, judge, service_failure, steadiness};
use rabbitscope_runs::{
    record::{Doubt, DoubtKind, RunRecord, SecondRow, Verdict},
    scenario::{PublisherGroup, Scenario},
};

use crate::exit::Exit;

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
    let expectations = judge(&scenario.expect.that, &record);
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

/// Returns the exit code of a run. In order of precedence: cut short or failed, not valid, not as expected.
pub fn exit_code(record: &RunRecord) -> Exit {
    if matches!(record.verdict, Verdict::Aborted { .. } | Verdict::Failed { .. }) {
        Exit::Failed
    } else if !record.doubts.is_empty() {
        Exit::NotValid
    } else if matches!(record.verdict, Verdict::Stopped { .. })
        || record.expectations.iter().any(|result| !result.passed)
    {
        Exit::ExpectationFailed
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::ExpectationResult;

    use super::*;

    #[test]
    fn the_worst_decides() {
        fn check(is_aborted: bool, has_doubt: bool, passed: bool, expected: Exit) {
            let reason = "because".to_owned();
            let aborted = Verdict::Aborted { reason: reason.clone() };
            let verdict = if is_aborted { aborted } else { Verdict::Completed };
            let doubt = Doubt { kind: DoubtKind::ClientLimited, reason };
            let doubts = if has_doubt { vec![doubt] } else { Vec::new() };
            let result = ExpectationResult { text: String::new(), measured: None, passed };
            let expectations = vec![result];
            let record = RunRecord { verdict, doubts, expectations, ..RunRecord::default() };
            assert_eq!(exit_code(&record), expected);
        }
        check(false, false, true, Exit::Done);
        check(false, false, false, Exit::ExpectationFailed);
        check(false, true, false, Exit::NotValid);
        check(true, true, false, Exit::Failed);
        let verdict = Verdict::Failed { reason: "because".to_owned() };
        assert_eq!(exit_code(&RunRecord { verdict, ..RunRecord::default() }), Exit::Failed);
        let verdict = Verdict::Stopped { reason: "because".to_owned() };
        assert_eq!(
            exit_code(&RunRecord { verdict, ..RunRecord::default() }),
            Exit::ExpectationFailed
        );
    }
}
