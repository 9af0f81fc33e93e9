//! How often a load thread polls its sockets and serves the schedules of its publishers.
//!
//! RabbitMQ sends small packets, and a schedule has a time for each message. One wake-up for each of them would cost more
//! than all other work of the thread. So the thread sleeps between passes, but only for a small part of the latency that it
//! measures, so that the sleep does not distort the measurement.

use crate::clock::SECOND;

/// A busy thread rests for this part of the latency, but never longer than the second time; what is
/// shorter than the third is not worth a system call.
const REST_SHARE: u64 = 64;

const REST_MAX_NANOS: u64 = SECOND / 1000;

const REST_MIN_NANOS: u64 = SECOND / 20_000;

/// Publishers with a schedule send together what is due, at most once in this part of the latency,
/// within these bounds.
const STEP_SHARE: u64 = 16;

const STEP_MIN_NANOS: u64 = SECOND / 4000;

pub(super) const STEP_MAX_NANOS: u64 = SECOND / 1000;

/// A message that is sent so long after its time on the schedule is late. Shorter delays are those of
/// steps and of the operating system.
pub(crate) const LATE_NANOS: u64 = 5 * SECOND / 1000;

/// The tempo of one thread. Times are nanoseconds since the run began.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// From one look at sockets and schedules to the next, if the scenario says so.
    step_nanos: Option<u64>,
    /// The shortest latency measured when something was last measured.
    fastest: u64,
    /// Publishers with a schedule wait until then.
    pace_at: u64,
    has_paced: bool,
}

impl Pacer {
    pub(crate) fn new(step_nanos: Option<u64>) -> Self {
        Self { step_nanos, ..Self::default() }
    }

    /// The shortest latency measured just now, if any, and whether a schedule was served.
    pub(crate) fn observe(&mut self, fastest: Option<u64>, has_paced: bool) {
        self.fastest = fastest.unwrap_or(self.fastest);
        self.has_paced |= has_paced;
    }

    /// All connections that had work have been served.
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

    /// How long to rest at `now` when there is something to do in `room` nanoseconds.
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
            let mut tempo = Pacer::default();
            tempo.observe(Some(latency), false);
            tempo.observe(None, false);
            assert_eq!(tempo.rest_nanos(7, room), expected, "{latency}");
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
            let mut tempo = Pacer::default();
            tempo.observe(Some(latency), true);
            tempo.end_pass(100);
            assert_eq!(tempo.pace_at(), 100 + expected, "{latency}");
            tempo.end_pass(200);
            assert_eq!(tempo.pace_at(), 100 + expected, "nothing was sent since");
        }
        check(0, MILLI / 4);
        check(8 * MILLI, MILLI / 2);
        check(SECOND, MILLI);
    }

    #[test]
    fn steps_can_be_asked_for() {
        let mut tempo = Pacer::new(Some(3 * MILLI));
        tempo.observe(Some(SECOND), false);
        tempo.end_pass(MILLI);
        assert_eq!(tempo.pace_at(), 4 * MILLI);
        assert_eq!(tempo.rest_nanos(2 * MILLI, SECOND), Some(2 * MILLI));
        assert_eq!(tempo.rest_nanos(2 * MILLI, MILLI), Some(MILLI));
        assert_eq!(tempo.rest_nanos(4 * MILLI, SECOND), None);
    }
}
