//! Limits that have failed for good while the run still goes on: nothing that may come can mend them.
//!
//! Only what is certain counts. A count that never falls and is above its limit stays there. A percentile
//! stays above its limit when more measurements were above than all messages of the run, as far as the
//! scenario bounds them, leave room for.

use rabbitscope_runs::{
    record::SecondRow,
    scenario::{
        Arrival, Comparison, Expectation, Limit, Metric, PublisherGroup, Scenario, Schedule,
    },
};

/// What is compared with a limit while the run goes on.
#[derive(Clone, Debug)]
struct WatchedLimit {
    expectation: Expectation,
    rule: Rule,
    /// What was measured: a count, or measurements above the limit.
    so_far: u64,
    /// Of the second that is not complete yet.
    pending: u64,
}

/// When a limit cannot hold any more.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// A count that never falls is above this.
    Count { name: &'static str, most: u64 },
    /// More measurements than this are above the limit.
    Above { most: u64 },
}

/// Follows a run, second by second.
#[derive(Clone, Debug)]
pub struct FailureWatch {
    limits: Vec<WatchedLimit>,
}

impl FailureWatch {
    /// Follows those of the scenario's limits that can fail for good before its end.
    pub fn of(scenario: &Scenario) -> Self {
        let limits = scenario.expect.that.iter().filter_map(|expectation| {
            let rule = rule(expectation, scenario)?;
            Some(WatchedLimit { expectation: expectation.clone(), rule, so_far: 0, pending: 0 })
        });
        Self { limits: limits.collect() }
    }

    /// There is nothing to follow: every limit is known at the end only.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// What was measured of a latency in the second that comes next, as pairs of nanoseconds and how often.
    pub fn latency(&mut self, name: &str, measured: impl Iterator<Item = (u64, u64)>) {
        let is_meant = |watched: &&mut WatchedLimit| matches!(watched.expectation.metric, Metric::Latency(wanted, _) if wanted == name);
        let mut limits: Vec<&mut WatchedLimit> = self.limits.iter_mut().filter(is_meant).collect();
        if limits.is_empty() {
            return;
        }
        for (nanos, count) in measured {
            for watched in &mut limits {
                let Expectation { comparison, limit, .. } = watched.expectation;
                if matches!(limit, Limit::Nanos(limit) if !comparison.holds(nanos, limit)) {
                    watched.pending += count;
                }
            }
        }
    }

    /// A second is complete. Why the run has failed for good, if it has.
    pub fn second(&mut self, row: &SecondRow) -> Option<String> {
        for watched in &mut self.limits {
            let pending = std::mem::take(&mut watched.pending);
            watched.so_far += match watched.rule {
                Rule::Count { name, .. } => count(row, name).unwrap_or(0),
                Rule::Above { .. } if row.warming => 0,
                Rule::Above { .. } => pending,
            };
        }
        self.limits.iter().find_map(WatchedLimit::failure)
    }
}

impl WatchedLimit {
    fn failure(&self) -> Option<String> {
        let (expectation, so_far) = (&self.expectation, self.so_far);
        match self.rule {
            Rule::Count { most, .. } if so_far > most => {
                Some(format!("{expectation} had failed for good: {so_far} were counted"))
            }
            Rule::Above { most } if so_far > most => Some(format!(
                "{expectation} had failed for good: {so_far} measurements were above, and no more than \
                 {most} could be with all messages of the run"
            )),
            _ => None,
        }
    }
}

fn rule(expectation: &Expectation, scenario: &Scenario) -> Option<Rule> {
    let Expectation { metric, comparison, limit } = expectation;
    match (*metric, *limit) {
        (Metric::Count(name), Limit::Count(limit)) => {
            let most = match comparison {
                Comparison::Below => limit.checked_sub(1)?,
                Comparison::AtMost | Comparison::Equal => limit,
                Comparison::AtLeast | Comparison::Above => return None,
            };
            count(&SecondRow::default(), name).map(|_| Rule::Count { name, most })
        }
        (Metric::Latency(name, quantile), Limit::Nanos(_)) => {
            let is_upper = matches!(comparison, Comparison::Below | Comparison::AtMost);
            let most = if quantile == "max" {
                0
            } else {
                room_above(most_measurements(name, scenario)?, share_below(quantile)?)
            };
            is_upper.then_some(Rule::Above { most })
        }
        _ => None,
    }
}

/// How many of the `measurements` may be above a value that is still their percentile.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a count; what is lost in the ninth digit is added"
)]
fn room_above(measurements: u64, share: f64) -> u64 {
    // Rounded up: the run must not be ended for a rounding error.
    ((1.0 - share) * measurements as f64).ceil() as u64
}

fn share_below(quantile: &str) -> Option<f64> {
    Some(match quantile {
        "p50" => 0.5,
        "p95" => 0.95,
        "p99" => 0.99,
        "p999" => 0.999,
        "p9999" => 0.9999,
        _ => return None,
    })
}

/// The most measurements of a latency that the scenario can come to; absent when nothing bounds them. A
/// message may be delivered any number of times.
fn most_measurements(latency: &str, scenario: &Scenario) -> Option<u64> {
    let duration = scenario.stop.duration;
    let bound = |schedule: &Schedule, messages: Option<u64>, count: u32| {
        let scheduled = duration.and_then(|duration| scheduled(schedule, duration.as_secs_f64()));
        let each = [scheduled, messages].into_iter().flatten().min()?;
        Some(each.saturating_mul(u64::from(count)))
    };
    let publishers = || -> Option<u64> {
        let republishes = |group: &PublisherGroup| {
            group.republish_unconfirmed && scenario.connecting.recovery.is_some()
        };
        let groups = scenario.publishers.iter();
        groups
            .map(|group| {
                (!republishes(group))
                    .then(|| bound(&group.schedule, group.messages, group.count))?
            })
            .sum()
    };
    let requests = || -> Option<u64> {
        let groups = scenario.requests.iter();
        groups.map(|group| bound(&group.schedule, group.messages, group.count)).sum()
    };
    match latency {
        "confirm" | "confirm-intended" => publishers(),
        "round-trip" | "round-trip-intended" => requests(),
        "client-delay" => Some(publishers()? + requests()?),
        _ => None,
    }
}

/// Messages of one member within this time; absent when that is chance or not bounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of messages, far below 2^53"
)]
fn scheduled(schedule: &Schedule, seconds: f64) -> Option<u64> {
    let is_constant = schedule.phases.is_empty() && schedule.arrival == Arrival::Constant;
    let rate = schedule.rate.filter(|_| is_constant)?;
    Some((rate * seconds).ceil() as u64 + 1)
}

/// Counts that never fall. Others are known at the end only.
fn count(row: &SecondRow, name: &str) -> Option<u64> {
    Some(match name {
        "duplicates" => row.counts.duplicates,
        "out-of-order" => row.counts.out_of_order,
        "redelivered" => row.counts.redelivered,
        "nacked" => row.counts.nacked,
        "returned" => row.counts.returned,
        "late" => row.counts.late,
        "late-by-client" => row.counts.late_by_client,
        "dropped" => row.counts.dropped,
        "stray-replies" => row.counts.stray_replies,
        "churn-failed" => row.counts.churn_failed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::parse;

    use rabbitscope_runs::record::Counters;

    use super::*;

    fn watch(expect: &str, more: &[&str]) -> FailureWatch {
        let text = format!(
            "name = \"t\"\nrun = {{ duration = \"10s\" }}\nqueues = [{{ name = \"q\" }}]\n\
             [[publishers]]\nqueue = \"q\"\nconfirm-window = 10\nrate = 100\n\
             [[consumers]]\nqueue = \"q\"\n[expect]\n{expect}\n"
        );
        let more: Vec<String> = more.iter().map(|line| (*line).to_owned()).collect();
        FailureWatch::of(&parse(&text, "test", &more).unwrap())
    }

    #[test]
    fn a_count_above_its_limit_stays_there() {
        fn check(limit: &str, returned: &[u64], expected: Option<usize>) {
            let mut watch = watch(&format!("returned = \"{limit}\""), &[]);
            let failed = returned.iter().position(|returned| {
                let row = SecondRow {
                    counts: Counters { returned: *returned, ..Counters::default() },
                    ..SecondRow::default()
                };
                watch.second(&row).is_some()
            });
            assert_eq!(failed, expected, "{limit}");
        }
        check("== 0", &[0, 0, 1], Some(2));
        check("< 3", &[1, 1, 0, 1], Some(3));
        check("<= 3", &[1, 1, 1, 0], None);
        check(">= 3", &[9, 9], None);
        check("< 50%", &[9, 9], None);
    }

    #[test]
    fn what_may_still_recover_is_not_followed() {
        for limit in
            ["unconfirmed = \"== 0\"", "published.rate = \">= 5\"", "confirm.mean = \"< 1ms\""]
        {
            assert!(watch(limit, &[]).is_empty(), "{limit}");
        }
        let p99 = "confirm.p99 = \"< 1ms\"";
        assert!(!watch(p99, &[]).is_empty());
        assert!(watch(p99, &["publishers.0.arrival=poisson"]).is_empty(), "their number is chance");
        assert!(watch("end-to-end.p99 = \"< 1ms\"", &[]).is_empty(), "deliveries are not bounded");
        assert!(!watch("end-to-end.max = \"< 1ms\"", &[]).is_empty());
    }

    #[test]
    fn a_percentile_fails_when_nothing_can_bring_it_down() {
        /// Above the limit in each second; of 1,001 messages at most, eleven may be.
        fn check(above: &[u64], warm: usize, expected: Option<usize>) {
            let mut watch = watch("confirm.p99 = \"<= 1ms\"", &[]);
            let failed = above.iter().enumerate().position(|(second, above)| {
                watch.latency(
                    "confirm",
                    [(900_000, 80), (1_000_000, 5), (1_000_001, *above)].into_iter(),
                );
                watch.latency("end-to-end", [(9_000_000, 80)].into_iter());
                watch
                    .second(&SecondRow { warming: second < warm, ..SecondRow::default() })
                    .is_some()
            });
            assert_eq!(failed, expected, "{above:?}");
        }
        check(&[5, 5, 1], 0, None);
        check(&[5, 5, 2], 0, Some(2));
        check(&[500, 5, 2], 1, None);
    }

    #[test]
    fn one_measurement_above_the_longest_is_enough() {
        let mut watch = watch("end-to-end.max = \"< 1ms\"", &[]);
        watch.latency("end-to-end", [(999_999, 7)].into_iter());
        assert_eq!(watch.second(&SecondRow::default()), None);
        watch.latency("end-to-end", [(1_000_000, 1)].into_iter());
        let reason = watch.second(&SecondRow::default()).unwrap();
        assert!(reason.starts_with("end-to-end.max < 1ms had failed for good: 1 "), "{reason}");
    }
}
