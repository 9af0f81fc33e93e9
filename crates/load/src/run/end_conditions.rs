//! Conditions that end a run: message counts, and idle time.

use std::sync::atomic::Ordering;

use rabbitscope_measurements::{IntervalReport, SharedState};
use rabbitscope_runs::scenario::{Scenario, Until};
use rabbitscope_timing::{Nanos, RunInstant};

use crate::pacing::slots_that_end;

/// `until = "idle"`: ends a run after seconds in which no message was written, accepted or consumed.
pub(super) struct IdleTimeout {
    length: Option<Nanos>,
    /// End of the last busy second.
    busy: RunInstant,
    /// End of the latest second.
    latest: RunInstant,
}

impl IdleTimeout {
    pub(super) fn from_scenario(scenario: &Scenario) -> Self {
        let length = match scenario.run.until() {
            Some(Until::Idle(length)) => Some(length.into()),
            Some(Until::Empty(_)) | None => None,
        };
        Self { length, busy: RunInstant::START, latest: RunInstant::START }
    }

    pub(super) fn observe(&mut self, part: &IntervalReport) {
        let counts = &part.measured.counts;
        if counts.published + counts.accepted_or_written() + counts.consumed > 0 {
            self.busy = self.busy.max(part.end);
        }
        self.latest = self.latest.max(part.end);
    }

    pub(super) fn is_reached(&self) -> bool {
        self.length.is_some_and(|length| self.latest.since(self.busy) >= length)
    }
}

/// Numbers of members that must be done to end the run: publishers, consumers, callers or churn slots. A kind counts
/// only if all of its groups have an end.
pub(super) struct EndConditions {
    publishers: Option<usize>,
    consumers: Option<usize>,
    callers: Option<usize>,
    churners: Option<usize>,
}

impl EndConditions {
    pub(super) fn from_scenario(scenario: &Scenario) -> Self {
        let Scenario { publishers, consumers, requests, churn, .. } = scenario;
        let members = |count: u32, messages: Option<u64>| messages.map(|_| count as usize);
        Self {
            publishers: total(
                publishers.iter().map(|group| group.ends().then_some(group.count as usize)),
            ),
            consumers: total(consumers.iter().map(|group| members(group.count, group.messages))),
            callers: total(requests.iter().map(|group| members(group.count, group.messages))),
            churners: total(churn.iter().map(slots_that_end)),
        }
    }

    pub(super) fn are_reached(&self, shared: &SharedState) -> bool {
        let counts = [
            (self.publishers, &shared.publishers_done),
            (self.consumers, &shared.consumers_done),
            (self.callers, &shared.callers_done),
            (self.churners, &shared.churners_done),
        ];
        counts.iter().any(|(wanted, _)| wanted.is_some())
            && counts.iter().all(|(wanted, done)| {
                wanted.is_none_or(|wanted| done.load(Ordering::Relaxed) >= wanted)
            })
    }
}

/// Number of members of all groups; absent if there are none or some group has no end.
fn total(members: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    members.sum::<Option<usize>>().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use rabbitscope_measurements::{IntervalMeasurements, PublisherCounts};
    use rabbitscope_runs::scenario;

    use super::*;

    const TEXT: &str = r#"
        name = "ends"
        run = { duration = "1s" }
        queues = [{ name = "q" }]
        publishers = [{ queue = "q", count = 2 }, { name = "other", queue = "q" }]
        consumers = [{ queue = "q", count = 3 }]
    "#;

    #[test]
    fn silence_ends_a_run() {
        /// Plays seconds with (`x`) and without messages, and checks the position of the one that ends the run.
        fn check(overrides: &[&str], seconds: &str, expected: Option<usize>) {
            let overrides: Vec<_> = overrides.iter().map(|text| (*text).to_owned()).collect();
            let scenario = scenario::parse(TEXT, "test", &overrides).unwrap();
            let mut idle = IdleTimeout::from_scenario(&scenario);
            let over = seconds.chars().zip(1_u32..).position(|(kind, second)| {
                let mut measured = IntervalMeasurements::default();
                measured.counts.consumed = u64::from(kind == 'x');
                let (start, end) =
                    (RunInstant::of_second(second - 1), RunInstant::of_second(second));
                let publisher_counts = PublisherCounts::default();
                let part = IntervalReport {
                    worker: 0,
                    second,
                    start,
                    end,
                    draining: false,
                    is_last: false,
                    measured,
                    publisher_counts,
                };
                idle.observe(&part);
                idle.is_reached()
            });
            assert_eq!(over, expected, "{seconds}");
        }
        let idle = ["run.until=idle", "run.idle-time=2s"];
        check(&[], "----------", None);
        check(&idle, "xx-x--x", Some(5));
        check(&idle, "--", Some(1));
        check(&idle[..1], "x----", None);
    }

    #[test]
    fn counts_end_a_run_when_a_whole_side_has_them() {
        /// Checks whether the run ends after this many publishers and consumers are done. The groups in `counted` have
        /// an end.
        fn check(counted: &[&str], done: (usize, usize), expected: bool) {
            let overrides: Vec<_> = counted.iter().map(|key| format!("{key}.messages=9")).collect();
            let scenario = scenario::parse(TEXT, "test", &overrides).unwrap();
            let shared = SharedState::default();
            shared.publishers_done.store(done.0, Ordering::Relaxed);
            shared.consumers_done.store(done.1, Ordering::Relaxed);
            assert_eq!(
                EndConditions::from_scenario(&scenario).are_reached(&shared),
                expected,
                "{counted:?} {done:?}"
            );
        }
        let publishers = ["publishers.0", "publishers.1"];
        let all = ["publishers.0", "publishers.1", "consumers.0"];
        check(&[], (0, 0), false);
        check(&publishers[..1], (2, 0), false);
        check(&publishers, (2, 0), false);
        check(&publishers, (3, 0), true);
        check(&all[2..], (0, 3), true);
        check(&all, (3, 2), false);
        check(&all, (3, 3), true);
    }

    #[test]
    fn callers_and_churn_end_a_run_too() {
        fn check(scenario: &Scenario, done: (usize, usize), expected: bool) {
            let shared = SharedState::default();
            shared.callers_done.store(done.0, Ordering::Relaxed);
            shared.churners_done.store(done.1, Ordering::Relaxed);
            assert_eq!(
                EndConditions::from_scenario(scenario).are_reached(&shared),
                expected,
                "{done:?}"
            );
        }
        let text = r#"
            name = "ends"
            queues = [{ name = "q" }]
            requests = [{ queue = "q", count = 3, messages = 5 }]
            responders = [{ queue = "q" }]
            churn = [{ kind = "channels", concurrency = 4, cycles = 2 }]
        "#;
        let both = scenario::parse(text, "test", &[]).unwrap();
        check(&both, (3, 1), false);
        check(&both, (2, 2), false);
        check(&both, (3, 2), true);
        let one = text.replace(", cycles = 2", "");
        let one = scenario::parse(&one, "test", &[]).unwrap();
        check(&one, (3, 0), true);
    }
}
