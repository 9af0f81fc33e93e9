//! `[expect]`: only what a scenario measures can be expected.

use super::super::{
    error::Problem,
    model::{Expectation, PublisherGroup, Scenario},
};
use crate::record::{Metric, Needs};

/// Checks that a scenario measures what it expects.
pub(super) fn expect(scenario: &Scenario) -> Result<(), Problem> {
    for Expectation { metric, .. } in &scenario.expect.that {
        if let Some(reason) = lacks(scenario, *metric) {
            let keys = metric.name().rsplit('.');
            return Err(keys.fold(Problem::new(reason), Problem::under).under("expect"));
        }
    }
    Ok(())
}

/// Returns the reason why a scenario never measures this metric; absent if it can.
pub(in crate::scenario) fn lacks(scenario: &Scenario, metric: Metric) -> Option<&'static str> {
    let Scenario { run, publishers, consumers, requests, responders, churn, .. } = scenario;
    let confirms = publishers.iter().any(PublisherGroup::has_confirms);
    let stamped = publishers.iter().any(PublisherGroup::is_stamped);
    let (is_there, reason) = match metric.needs() {
        Needs::Nothing => (true, ""),
        Needs::Verify => (run.verify, "is counted only with `[run] verify = true`"),
        Needs::Confirms => (
            confirms,
            "is measured only with confirms: give `[[publishers]]` a `confirm-window` or a `tx-size`",
        ),
        Needs::Deliveries => (
            stamped && !consumers.is_empty(),
            "is measured only with `[[consumers]]`, and `[[publishers]]` with bodies of 12 bytes or \
             more",
        ),
        Needs::Requests => (!requests.is_empty(), "is measured only with `[[requests]]`"),
        Needs::Consuming => (
            !consumers.is_empty() || !requests.is_empty() || !responders.is_empty(),
            "is measured only with `[[consumers]]`, `[[requests]]` or `[[responders]]`",
        ),
        Needs::Churn => (!churn.is_empty(), "is counted only with `[[churn]]`"),
    };
    (!is_there).then_some(reason)
}
