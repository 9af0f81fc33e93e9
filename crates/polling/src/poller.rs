//! One poller: waits for the scheduled time, sends a request, records the latency.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rabbitscope_timing::Nanos;

use super::{
    page::Page,
    statistics::{SharedStatistics, lock},
};

/// Delay from which a request is late. It equals the tolerance for messages.
const TOLERANCE: Duration = Duration::from_millis(5);

/// The schedule of one poller: requests are due at `offset`, `offset + interval`, … after the
/// start.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestSchedule {
    pub(super) offset: Duration,
    pub(super) interval: Duration,
}

impl RequestSchedule {
    fn due(self, index: u64) -> Duration {
        let nanos = u128::from(index) * self.interval.as_nanos();
        self.offset + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Number of requests that are due before `end`.
    pub(super) fn due_until(self, end: Duration) -> u64 {
        let Some(room) = end.checked_sub(self.offset).filter(|room| !room.is_zero()) else {
            return 0;
        };
        let interval = Nanos::from(self.interval).get().max(1);
        Nanos::from(room).get().div_ceil(interval)
    }
}

/// Ends all pollers, including waiting ones.
#[derive(Debug, Default)]
pub(super) struct EndSignal {
    has_ended: Mutex<bool>,
    changed: Condvar,
}

impl EndSignal {
    pub(super) fn end(&self) {
        *self.has_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until `time`. Returns false if the pollers end.
    fn wait_until(&self, time: Instant) -> bool {
        let mut has_ended = self.has_ended.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = time.saturating_duration_since(Instant::now());
            if *has_ended || left.is_zero() {
                return !*has_ended;
            }
            let waited = self.changed.wait_timeout(has_ended, left);
            (has_ended, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Sends requests until the pollers end. After a slow answer, the requests that fell due meanwhile are sent
/// immediately.
pub(super) fn poll(
    page: &Page,
    schedule: RequestSchedule,
    origin: Instant,
    statistics: &SharedStatistics,
    end_signal: &EndSignal,
) {
    let agent = page.agent();
    let mut room = vec![0; 64 * 1024];
    for index in 0.. {
        let due = origin + schedule.due(index);
        if !end_signal.wait_until(due) {
            return;
        }
        let sent = Instant::now();
        let answer = page.ask(&agent, &mut room);
        let (end, is_late) = (Instant::now(), sent > due + TOLERANCE);
        lock(statistics).record(&answer, is_late, (end - sent).into(), (end - due).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn requests_are_due_at_fixed_times() {
        fn check(end_millis: u32, expected: u64) {
            let schedule = RequestSchedule { offset: 30 * MILLI, interval: 100 * MILLI };
            assert_eq!(schedule.due_until(end_millis * MILLI), expected, "{end_millis}");
            let before = (0..expected).all(|index| schedule.due(index) < end_millis * MILLI);
            assert!(before && schedule.due(expected) >= end_millis * MILLI, "{end_millis}");
        }
        check(0, 0);
        check(30, 0);
        check(31, 1);
        check(130, 1);
        check(131, 2);
        check(1000, 10);
    }

    #[test]
    fn waiting_ends_when_all_is_over() {
        let end_signal = EndSignal::default();
        assert!(end_signal.wait_until(Instant::now()));
        end_signal.end();
        let start = Instant::now();
        assert!(!end_signal.wait_until(start + Duration::from_secs(60)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
