//! How much memory connections may take, and how long is waited for what does not come.

use std::time::Duration;

/// Bounds of [`super::Connections`]. A connection takes about 2 KiB besides what is counted here.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most connections at the same time. The one that was idle for longest goes.
    pub connections: usize,
    /// Most bytes of a direction that wait behind a hole.
    pub held_bytes: usize,
    /// Most segments of a direction that wait behind a hole.
    pub held_segments: usize,
    /// Most bytes of all directions together that wait behind holes.
    pub held_bytes_in_total: usize,
    /// How long segments wait behind a hole at most, by the time of packets.
    pub hole_patience: Duration,
    /// How long is waited for bytes that the receiver has acknowledged. They were received, so they are not sent again:
    /// the capture has lost them, or has them a little later.
    pub reordering_patience: Duration,
    /// Most segments of a direction that wait for their acknowledgement, for round trips.
    pub timed_segments: usize,
    /// Most segments of all directions together that do.
    pub timed_segments_in_total: usize,
}

impl Default for Limits {
    /// At most about 300 MiB, which only hostile captures need.
    fn default() -> Self {
        Self {
            connections: 65_536,
            held_bytes: 8 << 20,
            held_segments: 8192,
            held_bytes_in_total: 64 << 20,
            hole_patience: Duration::from_secs(10),
            reordering_patience: Duration::from_millis(1),
            timed_segments: 32_768,
            timed_segments_in_total: 1 << 20,
        }
    }
}

/// What all connections together may take of something.
#[derive(Debug)]
pub(super) struct Budget {
    used: usize,
    limit: usize,
}

impl Budget {
    pub(super) const fn new(limit: usize) -> Self {
        Self { used: 0, limit }
    }

    pub(super) const fn take(&mut self, amount: usize) {
        self.used += amount;
    }

    pub(super) const fn give_back(&mut self, amount: usize) {
        self.used -= amount;
    }

    pub(super) const fn is_exceeded(&self) -> bool {
        self.used > self.limit
    }

    pub(super) const fn is_used_up(&self) -> bool {
        self.used >= self.limit
    }
}

/// The bounds, and what was taken of those that all connections share.
#[derive(Debug)]
pub(super) struct Budgets {
    pub(super) limits: Limits,
    pub(super) held_bytes: Budget,
    pub(super) timed_segments: Budget,
}

impl Budgets {
    pub(super) const fn new(limits: Limits) -> Self {
        Self {
            held_bytes: Budget::new(limits.held_bytes_in_total),
            timed_segments: Budget::new(limits.timed_segments_in_total),
            limits,
        }
    }
}
