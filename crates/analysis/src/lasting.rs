//! Limits that have failed for good during the run, so that nothing later can mend them.
//!
//! Only certain failures count. A count that never falls stays above its limit. A percentile stays above its limit if
//! more measurements exceed it than the number of messages in the run, as far as the scenario bounds it, allows.

use rabbitscope_runs::{
    record::{Counters, ExpectedCount, ExpectedLatency, Latency, Quantile, SecondRow},
    scenario::{
        Arrival, Comparison, Expectation, LatencyEnds, Limit, Metric, PublisherGroup, Scenario,
        Schedule,
    },
};

/// A limit that is compared with figures during the run.
#[derive(Clone, Debug)]
struct WatchedLimit {
    expectation: Expectation,
    /// The latency that it means, as it is recorded.
    latency: Option<Latency>,
    rule: Rule,
    /// The figure so far: a count, or the number of measurements above the limit.
    so_far: u64,
    /// The figure of the unfinished second.
    pending: u64,
}

/// The condition under which a limit cannot hold any more.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// A count that never falls exceeds this number.
    Count { count: fn(&Counters) -> u64, most: u64 },
    /// More measurements than this exceed the limit.
    Above { most: u64 },
}

/// An observer of a run, second by second.
#[derive(Clone, Debug)]
pub struct FailureWatch {
    limits: Vec<WatchedLimit>,
}

impl FailureWatch {
    /// Observes those of the scenario's limits that can fail for good before the end.
    pub fn from_scenario(scenario: &Scenario) -> Self {
        let ends = LatencyEnds::from_scenario(scenario);
        let limits = scenario.expect.that.iter().filter_map(|expectation| {
            let rule = rule(expectation, scenario)?;
            let latency = match expectation.metric {
                Metric::Latency(latency, _) => Some(ends.recorded(latency)),
                _ => None,
            };
            let expectation = expectation.clone();
            Some(WatchedLimit { expectation, latency, rule, so_far: 0, pending: 0 })
        });
        Self { limits: limits.collect() }
    }

    /// True when no limit can fail before the end.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Adds a latency's measurements of the current second, as pairs of nanoseconds and count.
    pub fn latency(&mut self, name: &str, measured: impl Iterator<Item = (u64, u64)>) {
        let is_meant =
            |watched: &&mut WatchedLimit| watched.latency.map(Latency::name) == Some(name);
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

    /// Ends a second. Returns the reason if the run has failed for good.
    pub fn second(&mut self, row: &SecondRow) -> Option<String> {
        for watched in &mut self.limits {
            let pending = std::mem::take(&mut watched.pending);
            watched.so_far += match watched.rule {
                Rule::Count { count, .. } => count(&row.counts),
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
                "{expectation} had failed for good: {so_far} measurements were above it, and all messages of the run \
                 allow only {most}"
            )),
            _ => None,
        }
    }
}

fn rule(expectation: &Expectation, scenario: &Scenario) -> Option<Rule> {
    let Expectation { metric, comparison, limit } = expectation;
    match (*metric, *limit) {
        (Metric::Count(count), Limit::Count(limit)) => {
            let most = match comparison {
                Comparison::Below => limit.checked_sub(1)?,
                Comparison::AtMost | Comparison::Equal => limit,
                Comparison::AtLeast | Comparison::Above => return None,
            };
            Some(Rule::Count { count: never_falling(count)?, most })
        }
        (Metric::Latency(latency, quantile), Limit::Nanos(_)) => {
            let is_upper = matches!(comparison, Comparison::Below | Comparison::AtMost);
            let most = match quantile {
                Quantile::Max => 0,
                _ => room_above(most_measurements(latency, scenario)?, quantile.share_below()?),
            };
            is_upper.then_some(Rule::Above { most })
        }
        _ => None,
    }
}

/// Returns how many of the `measurements` may exceed a value that is still their percentile.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a count; what is lost in the ninth digit is added"
)]
fn room_above(measurements: u64, share: f64) -> u64 {
    // Rounded up, because a rounding error must not end the run.
    ((1.0 - share) * measurements as f64).ceil() as u64
}

/// Returns the largest possible number of a latency's measurements; absent if the scenario does not bound it. A message
/// may be delivered any number of times.
fn most_measurements(latency: ExpectedLatency, scenario: &Scenario) -> Option<u64> {
    let duration = scenario.run.duration;
    let bound = |schedule: &Schedule, messages: Option<u64>, count: u32| {
        let scheduled = duration.and_then(|duration| scheduled(schedule, duration.as_secs_f64()));
        let each = [scheduled, messages].into_iter().flatten().min()?;
        Some(each.saturating_mul(u64::from(count)))
    };
    let publishers = || -> Option<u64> {
        let republishes = |group: &PublisherGroup| {
            group.republish_unconfirmed == Some(true)
                && scenario.broker.connecting.recovery.is_some()
        };
        let groups = scenario.publishers.iter();
        groups
            .map(|group| {
                (!republishes(group))
                    .then(|| bound(&group.schedule(), group.messages, group.count))?
            })
            .sum()
    };
    let requests = || -> Option<u64> {
        let groups = scenario.requests.iter();
        groups.map(|group| bound(&group.schedule(), group.messages, group.count)).sum()
    };
    match latency {
        ExpectedLatency::Confirm | ExpectedLatency::ConfirmIntended => publishers(),
        ExpectedLatency::RoundTrip | ExpectedLatency::RoundTripIntended => requests(),
        ExpectedLatency::ClientDelay => Some(publishers()? + requests()?),
        _ => None,
    }
}

/// Returns the number of messages of one member within this time; absent if it is random or unbounded.
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

/// Returns the reader of a count that never falls. Other counts are known at the end only.
fn never_falling(count: ExpectedCount) -> Option<fn(&Counters) -> u64> {
    // The total includes requests that wait for their reply at the end.
    count.counter().filter(|_| count != ExpectedCount::RequestsUnanswered)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::parse;

    use super::*;

    fn watch(expect: &str, more: &[&str]) -> FailureWatch {
        let text = format!(
            "name = \"t\"\nrun = {{ duration = \"10s\" }}\nqueues = [{{ name = \"q\" }}]\n\
             [[publishers]]\nqueue = \"q\"\nconfirm-window = 10\nrate = 100\n\
             [[consumers]]\nqueue = \"q\"\n[expect]\n{expect}\n"
        );
        let more: Vec<String> = more.iter().map(|line| (*line).to_owned()).collect();
        FailureWatch::from_scenario(&parse(&text, "test", &more).unwrap())
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
        /// Checks numbers above the limit in each second. The limit allows eleven of at most 1,001 messages.
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
