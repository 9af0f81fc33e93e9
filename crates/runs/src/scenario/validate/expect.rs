//! `[expect]`: comparisons such as `< 20ms`.

use super::super::{
    error::{Problem, quoted},
    model::{Comparison, ConsumerGroup, Expect, Expectation, Limit, PublisherGroup, RunOptions},
    wire,
};
use crate::record::{Metric, Needs};
use rabbitscope_text::parse_duration;

/// The measurements of a scenario.
pub(in crate::scenario) struct Measured<'a> {
    pub(super) run: &'a RunOptions,
    pub(super) publishers: &'a [PublisherGroup],
    pub(super) consumers: &'a [ConsumerGroup],
    pub(super) has_requests: bool,
    pub(super) has_responders: bool,
    pub(super) has_churn: bool,
}

impl<'a> Measured<'a> {
    /// Collects the parts. `others` holds the numbers of groups of requests, responders and churn.
    pub(super) fn new(
        run: &'a RunOptions,
        publishers: &'a [PublisherGroup],
        consumers: &'a [ConsumerGroup],
        others: [usize; 3],
    ) -> Self {
        let [has_requests, has_responders, has_churn] = others.map(|count| count > 0);
        Self { run, publishers, consumers, has_requests, has_responders, has_churn }
    }

    /// Returns the reason why this metric is never measured; absent if it can be.
    pub(in crate::scenario) fn lacks(&self, metric: Metric) -> Option<&'static str> {
        let confirms =
            self.publishers.iter().any(|group| group.confirm_window.or(group.tx_size).is_some());
        let stamped = self.publishers.iter().any(PublisherGroup::is_stamped);
        let (is_there, reason) = match metric.needs() {
            Needs::Nothing => (true, ""),
            Needs::Verify => (self.run.verify, "is counted only with `[run] verify = true`"),
            Needs::Confirms => (
                confirms,
                "is measured only with confirms: give `[[publishers]]` a `confirm-window` or a `tx-size`",
            ),
            Needs::Deliveries => (
                stamped && !self.consumers.is_empty(),
                "is measured only with `[[consumers]]`, and `[[publishers]]` with bodies of 12 bytes or \
                 more",
            ),
            Needs::Requests => (self.has_requests, "is measured only with `[[requests]]`"),
            Needs::Consuming => (
                !self.consumers.is_empty() || self.has_requests || self.has_responders,
                "is measured only with `[[consumers]]`, `[[requests]]` or `[[responders]]`",
            ),
            Needs::Churn => (self.has_churn, "is counted only with `[[churn]]`"),
        };
        (!is_there).then_some(reason)
    }
}

#[cfg(test)]
impl<'a> Measured<'a> {
    pub(in crate::scenario) fn from_scenario(scenario: &'a crate::scenario::Scenario) -> Self {
        let crate::scenario::Scenario {
            run,
            publishers,
            consumers,
            requests,
            responders,
            churn,
            ..
        } = scenario;
        Self::new(run, publishers, consumers, [requests.len(), responders.len(), churn.len()])
    }
}

pub(super) fn expect(wire: wire::Expect, measured: &Measured<'_>) -> Result<Expect, Problem> {
    let steady = wire.steady.unwrap_or(false);
    let that = wire.bounds().into_iter().map(|(metric, bound)| {
        let checked = expectation(metric, &bound, measured);
        checked.map_err(|problem| {
            let (key, figure) = metric.keys();
            figure.into_iter().fold(problem, Problem::under).under(key).under("expect")
        })
    });
    Ok(Expect { steady, that: that.collect::<Result<_, _>>()? })
}

fn expectation(
    metric: Metric,
    bound: &str,
    measured: &Measured<'_>,
) -> Result<Expectation, Problem> {
    let bound = bound.trim();
    let known = Comparison::ALL.iter().find_map(|comparison| {
        Some((*comparison, bound.strip_prefix(comparison.symbol())?.trim()))
    });
    let Some((comparison, limit)) = known else {
        return Err(Problem::new(format!(
            "{} does not say how to compare: write `<`, `<=`, `==`, `>=` or `>` and a limit, such \
             as `{}`",
            quoted(bound),
            example(metric)
        )));
    };
    match read_limit(metric, limit) {
        Some(limit) => match measured.lacks(metric) {
            Some(reason) => Err(Problem::new(reason)),
            None => Ok(Expectation { metric, comparison, limit }),
        },
        None => Err(Problem::new(format!(
            "{} is not a limit for this; write a value such as `{}`",
            quoted(limit),
            example(metric)
        ))),
    }
}

fn read_limit(metric: Metric, text: &str) -> Option<Limit> {
    match metric {
        Metric::Latency(..) => nanos(text),
        Metric::Time(_) => match text.strip_suffix('%') {
            Some(share) => plain_number(share.trim()).map(Limit::Percent),
            None => nanos(text),
        },
        Metric::Rate(_) => plain_number(text).map(Limit::PerSecond),
        Metric::Count(_) => match text.strip_suffix('%') {
            Some(share) => plain_number(share.trim()).map(Limit::Percent),
            None => text.parse().ok().map(Limit::Count),
        },
    }
}

fn nanos(text: &str) -> Option<Limit> {
    let limit = parse_duration(text).ok()?;
    Some(Limit::Nanos(u64::try_from(limit.as_nanos()).ok()?))
}

/// Parses digits with at most one point, without a sign, an exponent or `inf`.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok())?
}

fn example(metric: Metric) -> String {
    match metric {
        Metric::Latency(..) => "< 20ms".to_owned(),
        Metric::Rate(_) => ">= 10000".to_owned(),
        Metric::Count(_) => "== 0` or `< 1%".to_owned(),
        Metric::Time(_) => "< 2s` or `< 10%".to_owned(),
    }
}
