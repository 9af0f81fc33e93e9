//! The schedule of one churn slot: the times at which it opens its next connection, channel, queue, binding or
//! consumer.

use rabbitscope_runs::scenario::{ChurnGroup, Schedule};
use rabbitscope_timing::{Nanos, RunInstant};

use super::arrival_schedule::ArrivalSchedule;

/// Wait of a slot after a refusal. Chosen: requests must not flood a broker that refuses them.
pub(crate) const RETRY_DELAY: Nanos = Nanos::SECOND;

/// The schedule of one slot: its share of the group's rate and cycles.
#[derive(Clone, Debug)]
pub(crate) struct ChurnCycle {
    pace: Option<ArrivalSchedule>,
    limit: Option<u64>,
    ended: u64,
    not_before: RunInstant,
}

impl ChurnCycle {
    /// Returns the schedule of slot `member`. Slots alternate.
    pub(crate) fn new(group: &ChurnGroup, member: u32) -> Self {
        let slots = group.concurrency.max(1);
        let steady = |rate: f64| Schedule::steady(rate / f64::from(slots));
        let pace = group.rate.and_then(|rate| {
            ArrivalSchedule::new(&steady(rate), member, slots, 0, RunInstant::START)
        });
        let limit = group.cycles.map(|cycles| {
            let (share, rest) = (cycles / u64::from(slots), cycles % u64::from(slots));
            share + u64::from(u64::from(member) < rest)
        });
        Self { pace, limit, ended: 0, not_before: RunInstant::START }
    }

    /// Returns the earliest beginning of the next cycle; absent after the last cycle.
    pub(crate) fn due(&self) -> Option<RunInstant> {
        let is_over = self.limit.is_some_and(|limit| self.ended >= limit);
        let due = self.pace.as_ref().and_then(ArrivalSchedule::due).unwrap_or_default();
        (!is_over).then(|| due.max(self.not_before))
    }

    /// Ends a cycle, which is complete or has failed. The next one does not begin before `not_before`. Returns true
    /// after the last cycle.
    pub(crate) fn end(&mut self, not_before: RunInstant) -> bool {
        self.ended += 1;
        if let Some(pace) = &mut self.pace {
            pace.advance();
        }
        self.not_before = not_before;
        self.limit == Some(self.ended)
    }
}

/// Number of slots that end; absent if the group has no end.
pub(crate) fn slots_that_end(group: &ChurnGroup) -> Option<usize> {
    let slots = u64::from(group.concurrency);
    group.cycles.map(|cycles| usize::try_from(cycles.min(slots)).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {

    use rabbitscope_runs::scenario;

    use super::*;

    fn group(concurrency: u32, rate: Option<f64>, cycles: Option<u64>) -> ChurnGroup {
        let text = "name = 't'\nrun.duration = '1s'\nchurn = [{ kind = 'channels' }]";
        let group = scenario::parse(text, "t", &[]).unwrap().churn.remove(0);
        ChurnGroup { concurrency, rate, cycles, ..group }
    }

    #[test]
    fn slots_together_keep_the_rate() {
        let group = group(4, Some(10.0), None);
        let mut due = Vec::new();
        for member in 0..4 {
            let mut cycle = ChurnCycle::new(&group, member);
            for _ in 0..5 {
                due.push(cycle.due().unwrap().nanos() / 1_000_000);
                assert!(!cycle.end(RunInstant::START));
            }
        }
        due.sort_unstable();
        let expected: Vec<_> = (0..20).map(|index| index * 100).collect();
        assert_eq!(due, expected, "milliseconds");
    }

    #[test]
    fn slots_share_the_cycles() {
        fn check(concurrency: u32, cycles: u64, expected_slots: usize) {
            let group = group(concurrency, None, Some(cycles));
            let (mut done, mut lasts) = (0, 0);
            for member in 0..concurrency {
                let mut cycle = ChurnCycle::new(&group, member);
                while cycle.due().is_some() {
                    done += 1;
                    lasts += usize::from(cycle.end(RunInstant::START));
                }
            }
            assert_eq!((done, lasts), (cycles, expected_slots));
            assert_eq!(slots_that_end(&group), Some(expected_slots));
        }
        check(4, 10, 4);
        check(4, 3, 3);
        check(1, 7, 1);
    }

    #[test]
    fn a_refusal_puts_the_next_off() {
        let mut cycle = ChurnCycle::new(&group(1, None, None), 0);
        assert_eq!(cycle.due(), Some(RunInstant::START));
        let later = RunInstant::from_nanos(500);
        cycle.end(later);
        assert_eq!((cycle.due(), cycle.ended), (Some(later), 1));
    }
}
