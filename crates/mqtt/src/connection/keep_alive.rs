//! The times of pings.
//!
//! A broker with an alarm stops reading, and answers a ping when the alarm ends. Such a silence is not the end of the
//! connection, so the client waits for much longer than one interval. The kernel ends a connection whose peer is gone.

use std::time::{Duration, Instant};

/// Intervals in which a ping must be answered. Chosen: ten minutes with the usual interval.
pub(crate) const PATIENCE: u32 = 10;

/// The work that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// A ping must be sent.
    Ping,
    /// A ping has had no answer for this time.
    Unanswered(Duration),
}

/// Pings of a connection, and their answers.
#[derive(Debug)]
pub(super) struct KeepAlive {
    /// The longest time between two packets of the client; `None` without pings.
    pub(super) interval: Option<Duration>,
    last_read: Instant,
    last_written: Instant,
    /// Time of the first ping behind which nothing was received.
    asked: Option<Instant>,
}

impl KeepAlive {
    /// Creates the pings of a connection. An interval of 0 seconds switches them off.
    pub(super) fn new(seconds: u16, now: Instant) -> Self {
        let interval = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        Self { interval, last_read: now, last_written: now, asked: None }
    }

    #[inline]
    pub(super) fn has_read(&mut self, now: Instant) {
        self.last_read = now;
        self.asked = None;
    }

    #[inline]
    pub(super) fn has_written(&mut self, now: Instant) {
        self.last_written = now;
    }

    /// Returns the next time to send a ping or to miss its answer. The client sends twice per interval, so one late
    /// wake-up does no harm. A client that only sends asks once per interval whether the broker lives.
    pub(super) fn next(&self) -> Option<Instant> {
        let interval = self.interval?;
        let written = self.last_written + interval / 2;
        let answered = match self.asked {
            Some(asked) => asked + interval * PATIENCE,
            None => self.last_read + interval,
        };
        Some(written.min(answered))
    }

    /// Returns the work that is due, and takes it as done.
    pub(super) fn tick(&mut self, now: Instant) -> Due {
        let Some(interval) = self.interval else { return Due::Nothing };
        if let Some(asked) = self.asked
            && now >= asked + interval * PATIENCE
        {
            return Due::Unanswered(now - asked);
        }
        let is_silent = self.asked.is_none() && now >= self.last_read + interval;
        if now < self.last_written + interval / 2 && !is_silent {
            return Due::Nothing;
        }
        self.last_written = now;
        self.asked.get_or_insert(now);
        Due::Ping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_is_no_loss() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut keep_alive = KeepAlive::new(10, start);
        assert_eq!((keep_alive.next(), keep_alive.tick(after(4))), (Some(after(5)), Due::Nothing));
        for seconds in (5..105).step_by(5) {
            assert_eq!(keep_alive.tick(after(seconds)), Due::Ping, "{seconds}");
        }
        keep_alive.has_read(after(104));
        assert_eq!(keep_alive.tick(after(105)), Due::Ping, "the answer came after 99 s");
        assert_eq!(keep_alive.tick(after(205)), Due::Unanswered(Duration::from_secs(100)));
    }

    #[test]
    fn a_client_that_only_sends_asks_once_per_interval() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut keep_alive = KeepAlive::new(10, start);
        let mut pings = Vec::new();
        for seconds in 1..40 {
            keep_alive.has_written(after(seconds));
            if keep_alive.tick(after(seconds)) == Due::Ping {
                pings.push(seconds);
                keep_alive.has_read(after(seconds));
            }
        }
        assert_eq!(pings, [10, 20, 30]);
    }

    #[test]
    fn without_an_interval_no_ping_is_sent() {
        let mut keep_alive = KeepAlive::new(0, Instant::now());
        let later = Instant::now() + Duration::from_secs(10_000);
        assert_eq!((keep_alive.next(), keep_alive.tick(later)), (None, Due::Nothing));
    }
}
