//! How schedules are caught up with after a load thread was kept from its CPU.
//!
//! What has become due meanwhile must go, but not all at once: the broker would see a burst that the
//! scenario does not ask for. So there is a time up to which schedules are served. It is the present as
//! long as nothing holds the thread up, and comes back to it within a budget: in no 10 ms does more
//! become due than the scenario asks for in 11.8 ms. Publishers that could not send because of the broker
//! are another matter: what they owe goes as soon as it can, as users' requests would.

use std::collections::VecDeque;

const WINDOW_NANOS: u64 = 10_000_000;

/// Of the schedule, in any window.
const BUDGET_NANOS: u64 = 11_800_000;

/// Whoever is so late gets his CPU too seldom for both: the rate is kept rather than the budget.
const HOPELESS_NANOS: u64 = 250_000_000;

/// Entries closer together than this are not worth their place.
const GRAIN_NANOS: u64 = 100_000;

/// Times are nanoseconds since the run began.
#[derive(Debug, Default)]
pub(crate) struct CatchUp {
    /// `(at, served)`, oldest first: at that time all that is due until `served` had gone. At most one
    /// of them is older than a window.
    history: VecDeque<(u64, u64)>,
    at: u64,
    served: u64,
    /// Time between two looks at the schedules, as the scenario wants it.
    step: u64,
    /// The same as it usually is. A thread that seldom gets its CPU must take more at once, or it would
    /// not keep the rate.
    usual: u64,
}

impl CatchUp {
    pub(crate) fn new(step_nanos: Option<u64>) -> Self {
        Self { step: step_nanos.unwrap_or(0), ..Self::default() }
    }

    /// Nothing of what waits for its time is due before `first_due`; absent: nothing waits.
    pub(crate) fn nothing_before(&mut self, first_due: Option<u64>, now: u64) {
        let Some(first_due) = first_due else {
            self.release(now);
            return;
        };
        let is_behind = self.served + 1 < self.at && first_due < now;
        let until = first_due.min(now);
        if !is_behind && until > self.at {
            // Nothing fell due in between: all of this had gone the last time already.
            match self.history.back_mut() {
                Some((at, served)) if *at == self.at => *served = until - 1,
                _ => self.history.push_back((self.at, until - 1)),
            }
            (self.at, self.served) = (until, until - 1);
            self.forget(now);
        }
    }

    /// Whatever is due at `now` may go.
    pub(crate) fn release(&mut self, now: u64) {
        self.history.clear();
        (self.at, self.served) = (now, now);
    }

    /// All that is due until then goes at `now`.
    pub(crate) fn until(&mut self, now: u64) -> u64 {
        self.forget(now);
        let elapsed = now.saturating_sub(self.at);
        if self.history.is_empty() {
            self.history.push_back((self.at, self.served));
        }
        let (at, before) = self.history[0];
        let more = (now - at).saturating_sub(WINDOW_NANOS).min(self.usual.max(self.step));
        let hopeless = now.saturating_sub(self.served).saturating_sub(HOPELESS_NANOS);
        let within = before + BUDGET_NANOS.max(WINDOW_NANOS + more + more / 8) + hopeless / 8;
        let smooth = self.served + 1 + elapsed + elapsed / 6;
        let served = now.min(within).min(smooth).max(self.served);
        if elapsed >= GRAIN_NANOS {
            // Follows the median: a single long time hardly counts.
            let part = self.usual / 8 + 1;
            self.usual = if elapsed > self.usual { self.usual + part } else { self.usual - part };
        }
        self.note(now, served);
        served
    }

    fn forget(&mut self, now: u64) {
        while self.history.get(1).is_some_and(|(at, _)| at + WINDOW_NANOS <= now) {
            self.history.pop_front();
        }
    }

    fn note(&mut self, at: u64, served: u64) {
        (self.at, self.served) = (at, served);
        if self.history.back().is_none_or(|(last, _)| last + GRAIN_NANOS <= at) {
            self.history.push_back((at, served));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1000;
    const MILLI: u64 = 1_000_000;

    /// Serves a schedule with messages at equal distances at these times, and says when each went.
    fn sent(gap: u64, passes: &[u64]) -> Vec<u64> {
        sent_by(CatchUp::default(), gap, passes)
    }

    fn sent_by(mut catch_up: CatchUp, gap: u64, passes: &[u64]) -> Vec<u64> {
        let (mut due, mut sent) = (0, Vec::new());
        for now in passes {
            catch_up.nothing_before(Some(due), *now);
            let until = catch_up.until(*now);
            while due <= until {
                sent.push(*now);
                due += gap;
            }
        }
        sent
    }

    fn most_in_a_window(sent: &[u64]) -> usize {
        let end = |from: u64| sent.partition_point(|at| *at < from + WINDOW_NANOS);
        sent.iter().enumerate().map(|(index, from)| end(*from) - index).max().unwrap()
    }

    /// Steps of 250 µs, with times at which nothing happens.
    fn passes(end: u64, away: &[(u64, u64)]) -> Vec<u64> {
        let steps = (0..end).step_by(250_000).map(|at| at + at / 7 % 90_000);
        steps.filter(|at| !away.iter().any(|(from, to)| (*from..*to).contains(at))).collect()
    }

    #[test]
    fn what_is_due_goes_at_once() {
        for gap in [MICRO, 71 * MICRO, 3 * MILLI, 2000 * MILLI] {
            let sent = sent(gap, &passes(4000 * MILLI, &[]));
            for (index, at) in sent.iter().enumerate() {
                let due = index as u64 * gap;
                assert!(at - due < 500 * MICRO, "{gap} {index} {due} {at}");
            }
        }
    }

    #[test]
    fn a_stall_makes_no_burst_and_is_caught_up_with() {
        let stalls = [(100 * MILLI, 103 * MILLI), (400 * MILLI, 430 * MILLI)];
        for gap in [71 * MICRO, 640 * MICRO] {
            let sent = sent(gap, &passes(1000 * MILLI, &stalls));
            let share = WINDOW_NANOS.div_ceil(gap);
            let most = most_in_a_window(&sent) as u64;
            assert!(most <= share * 118 / 100 + 1, "{gap}: {most} of {share}");
            for (index, at) in sent.iter().enumerate() {
                let late = at - index as u64 * gap;
                let is_after = (403 * MILLI..800 * MILLI).contains(at) || *at < 200 * MILLI;
                assert!(late < 500 * MICRO || is_after, "{gap} {at}: {late}");
            }
        }
    }

    #[test]
    fn whoever_sleeps_until_something_is_due_is_not_late() {
        for gap in [3 * MILLI, 8 * MILLI, 13 * MILLI, 60 * MILLI] {
            let passes: Vec<u64> = (0..200).map(|index| index * gap + 50_000).collect();
            let sent = sent(gap, &passes);
            assert_eq!(sent, passes, "{gap}");
        }
    }

    #[test]
    fn long_steps_are_kept_from_the_first() {
        for step in [3 * MILLI, 20 * MILLI, 1000 * MILLI] {
            let passes: Vec<u64> = (0..50).map(|index| index * step + index % 3 * 40_000).collect();
            let sent = sent_by(CatchUp::new(Some(step)), 100 * MICRO, &passes);
            let due = passes[49] / (100 * MICRO) + 1;
            assert_eq!(sent.len() as u64, due, "{step}");
            for (index, at) in sent.iter().enumerate() {
                assert!(at - index as u64 * 100 * MICRO <= step + 80_000, "{step}: {index} {at}");
            }
        }
    }

    #[test]
    fn hours_without_anything_to_send_take_no_memory() {
        let mut catch_up = CatchUp::default();
        for pass in 1..1_000_000 {
            // A consumer that works on a message is due as well, and sends nothing.
            catch_up.nothing_before(Some(pass * MILLI), pass * MILLI + 7);
        }
        assert!(catch_up.history.len() < 100, "{}", catch_up.history.len());
    }

    #[test]
    fn a_late_start_makes_no_burst() {
        let passes = passes(100 * MILLI, &[(0, 9 * MILLI)]);
        let most = most_in_a_window(&sent(100 * MICRO, &passes));
        assert!(most <= 119, "{most}");
    }

    #[test]
    fn a_thread_that_is_always_late_keeps_the_rate() {
        let passes: Vec<u64> = (0..1000).map(|pass| pass * 7 * MILLI).collect();
        let sent = sent(100 * MICRO, &passes);
        let missing = 999 * 70 + 1 - sent.len();
        assert!(missing < 2000, "a fifth of a second: {missing}");
    }

    #[test]
    fn a_burst_of_the_schedule_is_one() {
        let mut catch_up = CatchUp::default();
        catch_up.nothing_before(Some(700 * MILLI), 700 * MILLI + 30);
        assert_eq!(catch_up.until(700 * MILLI + 30), 700 * MILLI + 30);
    }

    #[test]
    fn whoever_waited_for_the_broker_owes_nothing() {
        let mut catch_up = CatchUp::default();
        catch_up.nothing_before(Some(MILLI), MILLI);
        assert_eq!(catch_up.until(MILLI), MILLI);
        catch_up.nothing_before(None, 2000 * MILLI);
        catch_up.nothing_before(Some(MILLI), 2000 * MILLI);
        assert_eq!(catch_up.until(2000 * MILLI), 2000 * MILLI);
    }
}
