//! `[expect]`: only what a scenario measures can be expected.

use super::super::{
    error::Problem,
    model::{Expectation, Metric, PublisherGroup, Scenario},
};

/// Checks that a scenario measures what it expects.
pub(super) fn expect(scenario: &Scenario) -> Result<(), Problem> {
    for Expectation { metric, .. } in &scenario.expect.that {
        if let Some(reason) = lacks(scenario, *metric) {
            let (key, figure) = metric.keys();
            let problem = figure.into_iter().fold(Problem::new(reason), Problem::under);
            return Err(problem.under(key).under("expect"));
        }
    }
    Ok(())
}

/// Returns the reason why a scenario never measures this metric; absent if it can.
pub(in crate::scenario) fn lacks(scenario: &Scenario, metric: Metric) -> Option<&'static str> {
    let Scenario { run, publishers, consumers, requests, responders, churn, .. } = scenario;
    let confirms = publishers.iter().any(PublisherGroup::has_confirms);
    let stamped = publishers.iter().any(PublisherGroup::is_stamped);
    let (is_there, reason) = match metric {
        Metric::Count("lost" | "duplicates" | "out-of-order") => {
            (run.verify, "is counted only with `[run] verify = true`")
        }
        Metric::Latency("confirm" | "confirm-intended", _)
        | Metric::Rate("confirmed")
        | Metric::Count("nacked" | "unconfirmed") => (
            confirms,
            "is measured only with confirms: give `[[publishers]]` a `confirm-window` or a `tx-size`",
        ),
        Metric::Latency(
            "end-to-end"
            | "end-to-end-intended"
            | "delivered"
            | "delivered-intended"
            | "processed"
            | "processed-intended"
            | "settled"
            | "settled-intended",
            _,
        ) => (
            stamped && !consumers.is_empty(),
            "is measured only with `[[consumers]]`, and `[[publishers]]` with bodies of 12 bytes or \
             more",
        ),
        Metric::Latency("round-trip" | "round-trip-intended", _)
        | Metric::Rate("replies")
        | Metric::Count("requests-unanswered" | "stray-replies") => {
            (!requests.is_empty(), "is measured only with `[[requests]]`")
        }
        Metric::Rate("consumed") => (
            !consumers.is_empty() || !requests.is_empty() || !responders.is_empty(),
            "is measured only with `[[consumers]]`, `[[requests]]` or `[[responders]]`",
        ),
        Metric::Count("churn-failed") => (!churn.is_empty(), "is counted only with `[[churn]]`"),
        _ => (true, ""),
    };
    (!is_there).then_some(reason)
}
