//! Limits of a search in the words of the command line.

use crate::exit::UsageError;

/// `confirm.p99 < 20ms` as an override of `[expect]`, from the time on the schedule.
pub fn limit_as_override(limit: &str) -> Result<String, UsageError> {
    let at = limit.find(['<', '>', '=']).filter(|at| *at > 0).ok_or_else(|| {
        UsageError(format!("limit {limit}: write a limit such as `confirm.p99 < 20ms`"))
    })?;
    let (metric, bound) = limit.split_at(at);
    let metric = match metric.trim().split_once('.') {
        Some((latency @ ("confirm" | "end-to-end"), quantile)) => {
            format!("{latency}-intended.{quantile}")
        }
        _ => metric.trim().to_owned(),
    };
    Ok(format!("expect.{metric}=\"{}\"", bound.trim()))
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
        check("late < 1%", Some("expect.late=\"< 1%\""));
        check("confirm.p99", None);
        check("< 20ms", None);
    }
}
