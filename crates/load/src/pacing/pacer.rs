//! The frequency at which a load thread polls its sockets and serves the schedules of its publishers.
//!
//! RabbitMQ sends small packets, and a schedule has a time for each message. One wake-up for each of them would cost
//! more than all other work of the thread. The thread therefore sleeps between passes. The sleep is only a small part
//! of the measured latency, so that it does not distort the measurement.

use std::time::Duration;

use rabbitscope_timing::{Nanos, RunInstant};

/// Part of the latency that a busy thread sleeps before it polls again. The sleep adds at most 1.6 % to the latencies
/// that the thread measures.
const REST_SHARE: u64 = 64;

/// Longest sleep: sockets are polled at least every millisecond, regardless of the latency.
const MAX_REST: Nanos = Nanos::MILLISECOND;

/// Shortest sleep (50 µs). A shorter one is not worth a system call, because the kernel's timer slack is as long.
const MIN_REST: Nanos = Nanos::from_micros(50);

/// Part of the latency in which schedules are served at most once. Messages that fall due meanwhile are sent together,
/// at most 6 % of the latency late, within the bounds below.
const STEP_SHARE: u64 = 16;

/// Shortest step (250 µs): shorter steps send one message per wake-up.
const MIN_STEP: Nanos = Nanos::from_micros(250);

/// Longest step (1 ms): a fifth of the tolerance for late messages.
pub(super) const MAX_STEP: Nanos = Nanos::MILLISECOND;

/// Delay after the scheduled time (5 ms) from which a message is late. Shorter delays come from steps (up to 1 ms) and
/// from time slices of other threads (up to 3 ms, see `burst_limiter.rs`).
pub(crate) const LATE_TOLERANCE: Nanos = Nanos::from_micros(5000);

/// The pacer of one thread.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// Time between two passes, if the scenario sets it.
    step: Option<Nanos>,
    /// The shortest latency of the last pass with a measurement.
    fastest: Nanos,
    /// Time until which schedules wait.
    pace_at: RunInstant,
    has_paced: bool,
}

impl Pacer {
    pub(crate) fn new(step: Option<Duration>) -> Self {
        Self { step: step.map(Nanos::from), ..Self::default() }
    }

    /// Notes the shortest latency that was just measured, if any, and whether a schedule was served.
    pub(crate) fn observe(&mut self, fastest: Option<Nanos>, has_paced: bool) {
        self.fastest = fastest.unwrap_or(self.fastest);
        self.has_paced |= has_paced;
    }

    /// Ends a pass: all ready connections have been served.
    pub(crate) fn end_pass(&mut self, now: RunInstant) {
        let has_paced = std::mem::take(&mut self.has_paced);
        if let Some(step) = self.step {
            self.pace_at = now + step;
        } else if has_paced {
            let step = (self.fastest / STEP_SHARE).clamp(MIN_STEP, MAX_STEP);
            self.pace_at = now + step;
        }
    }

    /// Lets schedules be served immediately.
    pub(crate) fn hurry(&mut self) {
        self.pace_at = RunInstant::START;
    }

    /// Returns the time from which schedules are served.
    pub(crate) fn pace_at(&self) -> RunInstant {
        self.pace_at
    }

    /// Returns the length of a sleep at `now` if the next task is `room` away; absent if it is too short.
    pub(crate) fn rest(&self, now: RunInstant, room: Nanos) -> Option<Nanos> {
        let rest = match self.step {
            Some(_) => self.pace_at.since(now),
            None => (self.fastest / REST_SHARE).min(MAX_REST),
        };
        let rest = rest.min(room);
        (rest >= MIN_REST).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::SECOND;
    const MILLI: Nanos = Nanos::MILLISECOND;

    fn at(since_start: Nanos) -> RunInstant {
        RunInstant::START + since_start
    }

    #[test]
    fn rests_are_a_small_part_of_the_latency() {
        fn check(latency: Nanos, room: Nanos, expected: Option<Nanos>) {
            let mut pacer = Pacer::default();
            pacer.observe(Some(latency), false);
            pacer.observe(None, false);
            assert_eq!(pacer.rest(RunInstant::from_nanos(7), room), expected, "{latency:?}");
        }
        check(Nanos::ZERO, SECOND, None);
        check(MILLI * 3, SECOND, None);
        check(MILLI * 16, SECOND, Some(MILLI / 4));
        check(MILLI * 16, MILLI / 10, Some(MILLI / 10));
        check(MILLI * 16, MILLI / 100, None);
        check(SECOND * 10, SECOND, Some(MILLI));
    }

    #[test]
    fn schedules_are_served_in_steps() {
        fn check(latency: Nanos, expected: Nanos) {
            let mut pacer = Pacer::default();
            pacer.observe(Some(latency), true);
            let (first, second) = (RunInstant::from_nanos(100), RunInstant::from_nanos(200));
            pacer.end_pass(first);
            assert_eq!(pacer.pace_at(), first + expected, "{latency:?}");
            pacer.end_pass(second);
            assert_eq!(pacer.pace_at(), first + expected, "nothing was sent since");
        }
        check(Nanos::ZERO, MILLI / 4);
        check(MILLI * 8, MILLI / 2);
        check(SECOND, MILLI);
    }

    #[test]
    fn steps_can_be_asked_for() {
        let mut pacer = Pacer::new(Some(Duration::from_millis(3)));
        pacer.observe(Some(SECOND), false);
        pacer.end_pass(at(MILLI));
        assert_eq!(pacer.pace_at(), at(MILLI * 4));
        assert_eq!(pacer.rest(at(MILLI * 2), SECOND), Some(MILLI * 2));
        assert_eq!(pacer.rest(at(MILLI * 2), MILLI), Some(MILLI));
        assert_eq!(pacer.rest(at(MILLI * 4), SECOND), None);
    }
}
