//! Limits of a search in the words of the command line.

use rabbitscope_runs::{experiment::RunMetric, record::Quantile};
use rabbitscope_terminal::UsageError;

/// Converts `confirm.p99 < 20ms` to an override of `[expect]`. Latencies count from the scheduled time.
pub fn limit_as_override(limit: &str) -> Result<String, UsageError> {
    let at = limit.find(['<', '>', '=']).filter(|index| *index > 0).ok_or_else(|| {
        UsageError(format!("limit {limit}: write a limit such as `confirm.p99 < 20ms`"))
    })?;
    let (metric, bound) = limit.split_at(at);
    check(metric.trim()).map_err(|reason| UsageError(format!("limit {limit}: {reason}")))?;
    let metric = match metric.trim().split_once('.') {
        Some((
            latency @ ("confirm" | "end-to-end" | "delivered" | "processed" | "settled"),
            quantile,
        )) => {
            format!("{latency}-intended.{quantile}")
        }
        _ => metric.trim().to_owned(),
    };
    Ok(format!("expect.{metric}=\"{}\"", bound.trim()))
}

/// Refuses names that are no metric of a load. Names without a point are those of `[expect]`.
fn check(metric: &str) -> Result<(), String> {
    if Quantile::from_name(metric).is_some() {
        return Err(format!("name the latency, as in `confirm.{metric}` or `end-to-end.{metric}`"));
    }
    match metric.contains('.').then(|| RunMetric::parse(metric)) {
        Some(Err(reason)) => Err(reason),
        Some(Ok(RunMetric::Load(_))) | None => Ok(()),
        Some(Ok(_)) => Err(format!("`{metric}` is neither a rate nor a latency of the load")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_become_expectations() {
        fn check(limit: &str, expected: Option<&str>) {
            assert_eq!(limit_as_override(limit).ok().as_deref(), expected);
        }
        check("confirm.p99 < 20ms", Some("expect.confirm-intended.p99=\"< 20ms\""));
        check("end-to-end.p999<=1s", Some("expect.end-to-end-intended.p999=\"<=1s\""));
        check("settled.p99 < 1s", Some("expect.settled-intended.p99=\"< 1s\""));
        check("delivered-intended.p99 < 1s", Some("expect.delivered-intended.p99=\"< 1s\""));
        check("late < 1%", Some("expect.late=\"< 1%\""));
        check("confirm.p99", None);
        check("< 20ms", None);
        check("p99 < 20ms", None);
        check("confrim.p99 < 20ms", None);
        check("broker.memory < 1GiB", None);
        let reason = limit_as_override("p99 < 20ms").unwrap_err().to_string();
        assert!(
            reason.contains("limit p99 < 20ms: name the latency, as in `confirm.p99`"),
            "{reason}"
        );
    }
}
