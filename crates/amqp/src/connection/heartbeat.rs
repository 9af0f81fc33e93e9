//! Heartbeats in both directions.

use std::time::{Duration, Instant};

use crate::{
    error::ConnectionError,
    frame::{FrameKind, write_frame},
    output::OutputBuffer,
};

#[derive(Debug)]
pub(super) struct Heartbeat {
    pub(super) interval: Option<Duration>,
    pub(super) last_read: Instant,
    pub(super) last_written: Instant,
}

impl Heartbeat {
    pub(super) fn new(now: Instant) -> Self {
        Self { interval: None, last_read: now, last_written: now }
    }

    /// Returns the next time to send a heartbeat or to miss one. We send twice per interval, so one late wake-up does
    /// no harm. The peer may be silent for two intervals, as in the specification.
    pub(super) fn next(&self) -> Option<Instant> {
        let interval = self.interval?;
        Some((self.last_written + interval / 2).min(self.last_read + interval * 2))
    }

    pub(super) fn tick(
        &mut self,
        now: Instant,
        output: &mut OutputBuffer,
    ) -> Result<(), ConnectionError> {
        let Some(interval) = self.interval else { return Ok(()) };
        if now >= self.last_read + interval * 2 {
            return Err(ConnectionError::HeartbeatMissed { seconds: interval.as_secs() * 2 });
        }
        if now >= self.last_written + interval / 2 {
            // Pending output is itself a sign of life once the socket takes it.
            if output.is_empty() {
                write_frame(output.end(), FrameKind::Heartbeat, 0, |_| {});
            }
            self.last_written = now;
        }
        Ok(())
    }
}
