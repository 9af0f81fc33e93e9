//! `[expect]`: comparisons such as `< 20ms`.

use super::super::{
    error::{Problem, quoted},
    model::{Comparison, Expect, Expectation, Limit, Metric, RunOptions},
    wire,
};
use crate::units::parse_duration;

pub(super) fn expect(wire: wire::Expect, run: &RunOptions) -> Result<Expect, Problem> {
    let steady = wire.steady.unwrap_or(false);
    let that = wire.bounds().into_iter().map(|(metric, bound)| {
        let checked = expectation(metric, &bound, run);
        checked.map_err(|problem| path(metric).into_iter().rev().fold(problem, Problem::under))
    });
    Ok(Expect { steady, that: that.collect::<Result<_, _>>()? })
}

fn path(metric: Metric) -> Vec<&'static str> {
    match metric {
        Metric::Latency(latency, quantile) => vec![latency, quantile],
        Metric::Rate(messages) => vec![messages, "rate"],
        Metric::Count(count) => vec![count],
    }
}

fn expectation(metric: Metric, bound: &str, run: &RunOptions) -> Result<Expectation, Problem> {
    let needs_check = ["lost", "duplicates", "out-of-order"].map(Metric::Count);
    if needs_check.contains(&metric) && !run.verify {
        return Err(Problem::new("is counted only with `[run] verify = true`"));
    }
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
        Some(limit) => Ok(Expectation { metric, comparison, limit }),
        None => Err(Problem::new(format!(
            "{} is no limit for this; write something like `{}`",
            quoted(limit),
            example(metric)
        ))),
    }
}

fn read_limit(metric: Metric, text: &str) -> Option<Limit> {
    match metric {
        Metric::Latency(..) => {
            let limit = parse_duration(text).ok()?;
            Some(Limit::Nanos(u64::try_from(limit.as_nanos()).ok()?))
        }
        Metric::Rate(_) => plain_number(text).map(Limit::PerSecond),
        Metric::Count(_) => match text.strip_suffix('%') {
            Some(share) => plain_number(share.trim()).map(Limit::Percent),
            None => text.parse().ok().map(Limit::Count),
        },
    }
}

/// Digits with a point at most: neither a sign, nor an exponent, nor `inf`.
fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok())?
}

fn example(metric: Metric) -> String {
    match metric {
        Metric::Latency(..) => "< 20ms".to_owned(),
        Metric::Rate(_) => ">= 10000".to_owned(),
        Metric::Count(_) => "== 0` or `< 1%".to_owned(),
    }
}
