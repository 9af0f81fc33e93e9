//! The times of heartbeats in both directions.

use std::time::{Duration, Instant};

/// The work that is due for the heartbeats of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// No work is due.
    Nothing,
    /// The client must show that it lives. Pending output does so as well, once the socket takes it.
    Send,
    /// The broker has been silent for too long.
    Missed {
        /// Length of the silence in seconds.
        seconds: u64,
    },
}

/// Heartbeats in both directions.
#[derive(Debug)]
pub struct Heartbeat {
    /// The interval that client and broker agreed on; `None` without heartbeats.
    pub interval: Option<Duration>,
    /// Time of the last read.
    pub last_read: Instant,
    /// Time of the last write.
    pub last_written: Instant,
}

impl Heartbeat {
    /// Creates the heartbeats of a connection without an interval.
    pub fn new(now: Instant) -> Self {
        Self { interval: None, last_read: now, last_written: now }
    }

    /// Returns the next time to send a heartbeat or to miss one. The client sends twice per interval, so one late
    /// wake-up does no harm. The peer may be silent for two intervals, as in the specifications.
    pub fn next(&self) -> Option<Instant> {
        let interval = self.interval?;
        Some((self.last_written + interval / 2).min(self.last_read + interval * 2))
    }

    /// Returns the work that is due, and takes it as done.
    pub fn tick(&mut self, now: Instant) -> Beat {
        let Some(interval) = self.interval else { return Beat::Nothing };
        if now >= self.last_read + interval * 2 {
            return Beat::Missed { seconds: interval.as_secs() * 2 };
        }
        if now < self.last_written + interval / 2 {
            return Beat::Nothing;
        }
        self.last_written = now;
        Beat::Send
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_interval_asks_for_a_beat_and_two_are_a_loss() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut heartbeat = Heartbeat::new(start);
        assert_eq!((heartbeat.next(), heartbeat.tick(after(100))), (None, Beat::Nothing));
        heartbeat.interval = Some(Duration::from_secs(10));
        assert_eq!((heartbeat.next(), heartbeat.tick(after(4))), (Some(after(5)), Beat::Nothing));
        assert_eq!((heartbeat.tick(after(5)), heartbeat.next()), (Beat::Send, Some(after(10))));
        assert_eq!(heartbeat.tick(after(20)), Beat::Missed { seconds: 20 });
        heartbeat.last_read = after(19);
        assert_eq!(heartbeat.tick(after(20)), Beat::Send);
    }
}
