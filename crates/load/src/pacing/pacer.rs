//! How often a load thread polls its sockets and serves the schedules of its publishers.
//!
//! RabbitMQ sends small packets, and a schedule has a time for each message. One wake-up for each
//! of them would cost more than all other work of the thread. So the thread sleeps between passes,
//! but only for a small part of the latency that it measures, so that the sleep does not distort
//! the measurement.

use std::time::Duration;

use crate::clock::{SECOND, nanos};

/// A busy thread sleeps for this part of the latency before it polls again: the sleep adds at most
/// 1.6 % to the latencies that it measures.
const REST_SHARE: u64 = 64;

/// Longest sleep: sockets are polled at least every millisecond, however long the latency.
const REST_MAX_NANOS: u64 = SECOND / 1000;

/// A shorter sleep (50 µs) is not worth a system call: the kernel's timer slack is as long.
const REST_MIN_NANOS: u64 = SECOND / 20_000;

/// Schedules are served at most once in this part of the latency: messages that fall due meanwhile
/// are sent together, at most 6 % of the latency late, within the bounds below.
const STEP_SHARE: u64 = 16;

/// Shortest step (250 µs): shorter ones send one message for each wake-up.
const STEP_MIN_NANOS: u64 = SECOND / 4000;

/// Longest step (1 ms): a fifth of what counts as late.
pub(super) const STEP_MAX_NANOS: u64 = SECOND / 1000;

/// A message that is sent this long (5 ms) after its scheduled time is late. Shorter delays are
/// those of steps (up to 1 ms) and of time slices of other threads (up to 3 ms, see
/// `burst_limiter.rs`).
pub(crate) const LATE_NANOS: u64 = 5 * SECOND / 1000;

/// The pacer of one thread. Times are nanoseconds since the run began.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// From one pass to the next, if the scenario sets it.
    step_nanos: Option<u64>,
    /// The shortest latency of the last pass that measured any.
    fastest: u64,
    /// Schedules wait until then.
    pace_at: u64,
    has_paced: bool,
}

impl Pacer {
    pub(crate) fn new(step: Option<Duration>) -> Self {
        Self { step_nanos: step.map(nanos), ..Self::default() }
    }

    /// Notes the shortest latency that was just measured, if any, and whether a schedule was
    /// served.
    pub(crate) fn observe(&mut self, fastest: Option<u64>, has_paced: bool) {
        self.fastest = fastest.unwrap_or(self.fastest);
        self.has_paced |= has_paced;
    }

    /// A pass is complete: all ready connections have been served.
    pub(crate) fn end_pass(&mut self, now: u64) {
        let has_paced = std::mem::take(&mut self.has_paced);
        if let Some(step) = self.step_nanos {
            self.pace_at = now + step;
        } else if has_paced {
            let step = (self.fastest / STEP_SHARE).clamp(STEP_MIN_NANOS, STEP_MAX_NANOS);
            self.pace_at = now + step;
        }
    }

    /// Schedules are served at once.
    pub(crate) fn hurry(&mut self) {
        self.pace_at = 0;
    }

    /// Schedules are served from then on.
    pub(crate) fn pace_at(&self) -> u64 {
        self.pace_at
    }

    /// How long to sleep at `now`, in nanoseconds, when the next task is `room` nanoseconds away.
    pub(crate) fn rest_nanos(&self, now: u64, room: u64) -> Option<u64> {
        let rest = match self.step_nanos {
            Some(_) => self.pace_at.saturating_sub(now),
            None => (self.fastest / REST_SHARE).min(REST_MAX_NANOS),
        };
        let rest = rest.min(room);
        (rest >= REST_MIN_NANOS).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = SECOND / 1000;

    #[test]
    fn rests_are_a_small_part_of_the_latency() {
        fn check(latency: u64, room: u64, expected: Option<u64>) {
            let mut pacer = Pacer::default();
            pacer.observe(Some(latency), false);
            pacer.observe(None, false);
            assert_eq!(pacer.rest_nanos(7, room), expected, "{latency}");
        }
        check(0, SECOND, None);
        check(3 * MILLI, SECOND, None);
        check(16 * MILLI, SECOND, Some(MILLI / 4));
        check(16 * MILLI, MILLI / 10, Some(MILLI / 10));
        check(16 * MILLI, MILLI / 100, None);
        check(10 * SECOND, SECOND, Some(MILLI));
    }

    #[test]
    fn schedules_are_served_in_steps() {
        fn check(latency: u64, expected: u64) {
            let mut pacer = Pacer::default();
            pacer.observe(Some(latency), true);
            pacer.end_pass(100);
            assert_eq!(pacer.pace_at(), 100 + expected, "{latency}");
            pacer.end_pass(200);
            assert_eq!(pacer.pace_at(), 100 + expected, "nothing was sent since");
        }
        check(0, MILLI / 4);
        check(8 * MILLI, MILLI / 2);
        check(SECOND, MILLI);
    }

    #[test]
    fn steps_can_be_asked_for() {
        let mut pacer = Pacer::new(Some(Duration::from_millis(3)));
        pacer.observe(Some(SECOND), false);
        pacer.end_pass(MILLI);
        assert_eq!(pacer.pace_at(), 4 * MILLI);
        assert_eq!(pacer.rest_nanos(2 * MILLI, SECOND), Some(2 * MILLI));
        assert_eq!(pacer.rest_nanos(2 * MILLI, MILLI), Some(MILLI));
        assert_eq!(pacer.rest_nanos(4 * MILLI, SECOND), None);
    }
}
