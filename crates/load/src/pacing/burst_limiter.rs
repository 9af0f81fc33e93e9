//! A limiter that keeps a short delay of a load thread from becoming a burst, without delaying the schedule.
//!
//! A message that fell due while a thread had no CPU is already late. If the client holds it back, it makes the message
//! even later. The schedule therefore comes first: **all late messages are sent at once**, regardless of their number,
//! as in wrk2.
//!
//! There is one exception. Threads that share a CPU have time slices of up to 3 ms. The kernel's scheduler computes
//! `base_slice_ns` as 0.75 ms × (1 + log2 of the CPUs), with at most 8 CPUs. Such delays happen all the time on a
//! machine in use. Messages of a few milliseconds, sent together and followed by the messages due then, form a burst
//! that no scenario demands. After a delay of 3 ms it is 1.3 times the rate in 10 ms.
//!
//! After such a delay the limiter allows 11.8 ms of the schedule in any 10 ms. It sends the rest after the 10 ms. A
//! delay of `d` costs at most `d` − 1.8 ms, and only for the messages of the next 10 ms. Delays of more than 4 ms (3 ms
//! and the longest step of the pacer) are not limited.
//!
//! After successive delays more than 4 − 1.8 = 2.2 ms might be held back. The limiter then releases everything and
//! clears its history. It therefore holds nothing back for longer than 2.2 ms and a step, and never makes a message
//! late by itself, because late means 5 ms.
//!
//! Messages that the broker delayed are not limited either: they are sent as soon as possible, like the requests of
//! users.

use std::{collections::VecDeque, time::Duration};

use rabbitscope_timing::{Nanos, RunInstant};

use super::pacer::MAX_STEP;

/// The window that must show no burst: `make bench-pace` counts messages in 10 ms.
const WINDOW: Nanos = Nanos::from_micros(10_000);

/// The part of the schedule that any window may serve. Including the steps at the beginning and the end of a window,
/// this is still below 1.2 times the rate.
const BUDGET: Nanos = Nanos::from_micros(11_800);

/// The longest time slice of another thread on the same CPU: 0.75 ms × (1 + log2 8), see above.
const TIME_SLICE: Nanos = Nanos::from_micros(3000);

/// Delay above which nothing is held back.
const MAX_DELAY: Nanos = TIME_SLICE.plus(MAX_STEP);

/// Maximum part of the schedule that is held back: the excess over the budget after such a delay.
const MAX_HELD: Nanos = MAX_DELAY.plus(WINDOW).minus(BUDGET);

/// Minimum distance between entries of the history: 1 % of a window.
const GRAIN: Nanos = Nanos::from_micros(100);

/// The limiter of one thread.
#[derive(Debug, Default)]
pub(crate) struct BurstLimiter {
    /// Pairs `(at, served)`, oldest first: at the time `at`, all messages due until `served` had been sent. At most one
    /// of them is older than a window.
    history: VecDeque<(RunInstant, RunInstant)>,
    at: RunInstant,
    served: RunInstant,
    /// True if the scenario sets such a long step that each step is a burst.
    is_off: bool,
}

impl BurstLimiter {
    /// Creates a limiter. `step` is the time between two passes, if the scenario sets it.
    pub(crate) fn new(step: Option<Duration>) -> Self {
        let is_off = step.is_some_and(|step| Nanos::from(step) > MAX_STEP);
        Self { is_off, ..Self::default() }
    }

    /// Notes that no message waiting for its time is due before `first_due`; absent if none waits.
    pub(crate) fn nothing_before(&mut self, first_due: Option<RunInstant>, now: RunInstant) {
        let Some(first_due) = first_due else {
            self.release(now);
            return;
        };
        let is_behind = self.served < self.at.previous() && first_due < now;
        let until = first_due.min(now);
        if !is_behind && until > self.at {
            // Nothing fell due in between: the last pass sent everything.
            match self.history.back_mut() {
                Some((at, served)) if *at == self.at => *served = until.previous(),
                _ => self.history.push_back((self.at, until.previous())),
            }
            (self.at, self.served) = (until, until.previous());
            self.forget(now);
        }
    }

    /// Permits all messages that are due at `now`.
    pub(crate) fn release(&mut self, now: RunInstant) {
        self.history.clear();
        (self.at, self.served) = (now, now);
    }

    /// Returns the time until which due messages are sent at `now`.
    pub(crate) fn until(&mut self, now: RunInstant) -> RunInstant {
        let within = self.within_budget(now);
        let is_delayed = now.since(self.served) > MAX_DELAY;
        if self.is_off || is_delayed || now.since(within) > MAX_HELD {
            self.release(now);
        } else {
            self.note(now, within);
        }
        self.served
    }

    fn within_budget(&mut self, now: RunInstant) -> RunInstant {
        self.forget(now);
        let before = self.history.front().map_or(self.served, |(_, served)| *served);
        if self.history.is_empty() {
            self.history.push_back((self.at, self.served));
        }
        (before + BUDGET).max(self.served).min(now)
    }

    fn forget(&mut self, now: RunInstant) {
        while self.history.get(1).is_some_and(|(at, _)| *at + WINDOW <= now) {
            self.history.pop_front();
        }
    }

    fn note(&mut self, at: RunInstant, served: RunInstant) {
        (self.at, self.served) = (at, served);
        if self.history.back().is_none_or(|(last, _)| *last + GRAIN <= at) {
            self.history.push_back((at, served));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::pacer::LATE_TOLERANCE;

    const LATE_NANOS: u64 = LATE_TOLERANCE.get();
    const WINDOW_NANOS: u64 = WINDOW.get();
    const HELD_NANOS: u64 = MAX_HELD.get();
    const MICRO: u64 = 1000;
    const MILLI: u64 = 1_000_000;
    const SECOND: u64 = 1000 * MILLI;

    fn at(nanos: u64) -> RunInstant {
        RunInstant::from_nanos(nanos)
    }

    /// Serves a schedule with messages at equal distances at these times. Returns the send time of each message.
    fn sent(gap: u64, passes: &[u64]) -> Vec<u64> {
        sent_by(BurstLimiter::default(), gap, passes)
    }

    fn sent_by(mut limiter: BurstLimiter, gap: u64, passes: &[u64]) -> Vec<u64> {
        let (mut due, mut sent) = (0, Vec::new());
        for now in passes {
            limiter.nothing_before(Some(at(due)), at(*now));
            let until = limiter.until(at(*now)).nanos();
            while due <= until {
                sent.push(*now);
                due += gap;
            }
        }
        sent
    }

    fn most_in_a_window(sent: &[u64]) -> usize {
        let end = |from: u64| sent.partition_point(|time| *time < from + WINDOW_NANOS);
        sent.iter().enumerate().map(|(index, from)| end(*from) - index).max().unwrap()
    }

    /// Returns pass times about every `step`, without the times of `away`.
    fn looks(step: u64, end: u64, away: impl Fn(u64) -> bool) -> Vec<u64> {
        let looks = (0..end).step_by(usize::try_from(step).unwrap());
        looks.map(|time| time + time / 7 % (step / 3)).filter(|time| !away(*time)).collect()
    }

    /// Returns pass times with steps of 250 µs.
    fn passes(end: u64, away: &[(u64, u64)]) -> Vec<u64> {
        looks(250 * MICRO, end, |time| away.iter().any(|(from, to)| (*from..*to).contains(&time)))
    }

    /// Returns the delay of each message after its scheduled time.
    fn delays(gap: u64, sent: &[u64]) -> Vec<u64> {
        sent.iter().enumerate().map(|(index, at)| at - index as u64 * gap).collect()
    }

    fn late(delays: &[u64]) -> usize {
        delays.iter().filter(|delay| **delay > LATE_NANOS).count()
    }

    #[test]
    fn what_is_due_goes_at_once() {
        for gap in [MICRO, 71 * MICRO, 3 * MILLI, 2000 * MILLI] {
            let sent = sent(gap, &passes(4 * SECOND, &[]));
            let longest = delays(gap, &sent).into_iter().max();
            assert!(longest < Some(500 * MICRO), "{gap} {longest:?}");
        }
    }

    /// Covers every step in automatic use; `make bench-pace` demands at most 1.2.
    #[test]
    fn without_a_delay_no_window_is_above_the_rate_by_a_fifth() {
        for step in [250 * MICRO, 600 * MICRO, MILLI] {
            for gap in [MICRO, 71 * MICRO, 640 * MICRO] {
                let sent = sent(gap, &looks(step, SECOND, |_| false));
                let (most, share) = (most_in_a_window(&sent) as u64, WINDOW_NANOS.div_ceil(gap));
                assert!(most * 100 <= share * 120, "{step} {gap}: {most} of {share}");
            }
        }
    }

    #[test]
    fn a_turn_of_another_thread_makes_no_burst() {
        for gap in [71 * MICRO, 640 * MICRO] {
            for length in [MILLI, 2 * MILLI, 3 * MILLI] {
                let away = |time: u64| time % (50 * MILLI) >= 50 * MILLI - length;
                let sent = sent(gap, &looks(250 * MICRO, SECOND, away));
                let (most, share) = (most_in_a_window(&sent) as u64, WINDOW_NANOS / gap);
                assert!(most <= share * 118 / 100 + 2, "{gap} {length}: {most} of {share}");
                assert_eq!(late(&delays(gap, &sent)), 0, "{gap} {length}");
            }
        }
    }

    #[test]
    fn whoever_shares_a_cpu_is_hardly_held_back() {
        for length in [MILLI, 2 * MILLI, 2500 * MICRO] {
            let sent =
                sent(71 * MICRO, &looks(250 * MICRO, SECOND, |time| time % (2 * length) >= length));
            let mut delays = delays(71 * MICRO, &sent);
            delays.sort_unstable();
            let (mean, max) = (delays.iter().sum::<u64>() / delays.len() as u64, delays.last());
            let away = length + 500 * MICRO;
            assert!(mean < away / 4 + HELD_NANOS / 2, "{length}: {mean}");
            assert!(max <= Some(&(HELD_NANOS + away)), "{length}: {max:?}");
        }
    }

    #[test]
    fn what_a_delay_costs_is_over_after_a_window() {
        let sent = sent(71 * MICRO, &passes(SECOND, &[(100 * MILLI, 103 * MILLI)]));
        for (at, delay) in sent.iter().zip(delays(71 * MICRO, &sent)) {
            let most = match *at / MICRO {
                100_000..103_500 => 3500,
                103_500..114_000 => 1700,
                _ => 500,
            };
            assert!(delay <= most * MICRO, "{at}: {delay}");
        }
    }

    #[test]
    fn a_stall_makes_late_only_what_falls_due_in_it() {
        for rate in [20, 200, 5000, 14_000] {
            let gap = SECOND / rate;
            let stall = (4 * SECOND, 4 * SECOND + 100 * MILLI);
            let sent = sent(gap, &passes(10 * SECOND, &[stall]));
            let delays = delays(gap, &sent);
            let share = late(&delays) as f64 / sent.len() as f64;
            assert!((0.009..=0.010).contains(&share), "{rate}: {share}");
            let after = sent.partition_point(|time| *time <= stall.1 + MILLI);
            let longest = delays[after..].iter().max();
            assert!(longest < Some(&(500 * MICRO)), "{rate}: {longest:?}");
        }
    }

    #[test]
    fn whoever_is_stopped_again_and_again_keeps_the_schedule() {
        let away = |time: u64| time % (100 * MILLI) >= 80 * MILLI;
        let sent = sent(MILLI, &looks(250 * MICRO, 10 * SECOND, away));
        let mut delays = delays(MILLI, &sent);
        for second in 0..9 {
            let end = |second: u64| sent.partition_point(|time| *time < second * SECOND);
            let count = end(second + 1) - end(second);
            assert!(count >= if second == 0 { 980 } else { 1000 }, "{second}: {count}");
        }
        delays.sort_unstable();
        assert!(delays[delays.len() * 79 / 100] < 500 * MICRO, "all but the fifth: {delays:?}");
        assert!(delays.last() < Some(&(21 * MILLI)));
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
        for step in [2 * MILLI, 3 * MILLI, 20 * MILLI, 1000 * MILLI] {
            let passes: Vec<u64> = (0..50).map(|index| index * step + index % 3 * 40_000).collect();
            let sent =
                sent_by(BurstLimiter::new(Some(Duration::from_nanos(step))), 100 * MICRO, &passes);
            let due = passes[49] / (100 * MICRO) + 1;
            assert_eq!(sent.len() as u64, due, "{step}");
            for (index, at) in sent.iter().enumerate() {
                assert!(at - index as u64 * 100 * MICRO <= step + 80_000, "{step}: {index} {at}");
            }
        }
    }

    #[test]
    fn hours_without_anything_to_send_take_no_memory() {
        let mut limiter = BurstLimiter::default();
        for pass in 1..1_000_000 {
            // A consumer that processes a message is also due, but sends nothing.
            limiter.nothing_before(Some(at(pass * MILLI)), at(pass * MILLI + 7));
        }
        assert!(limiter.history.len() < 100, "{}", limiter.history.len());
    }

    #[test]
    fn a_thread_that_is_always_late_keeps_the_schedule() {
        let passes: Vec<u64> = (0..1000).map(|pass| pass * 7 * MILLI).collect();
        let sent = sent(100 * MICRO, &passes);
        assert_eq!(sent.len(), 999 * 70 + 1);
    }

    #[test]
    fn a_burst_of_the_schedule_is_one() {
        let mut limiter = BurstLimiter::default();
        let now = at(700 * MILLI + 30);
        limiter.nothing_before(Some(at(700 * MILLI)), now);
        assert_eq!(limiter.until(now), now);
    }

    #[test]
    fn whoever_waited_for_the_broker_owes_nothing() {
        let mut limiter = BurstLimiter::default();
        let (early, later) = (at(MILLI), at(2000 * MILLI));
        limiter.nothing_before(Some(early), early);
        assert_eq!(limiter.until(early), early);
        limiter.nothing_before(None, later);
        limiter.nothing_before(Some(early), later);
        assert_eq!(limiter.until(later), later);
    }
}
