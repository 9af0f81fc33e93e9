//! Bounds of the memory of connections, and of the wait for missing bytes.

use std::time::Duration;

/// Bounds of [`super::Connections`]. A connection takes about 2 KiB besides the memory counted here.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum of simultaneous connections. The one that was idle longest is evicted.
    pub connections: usize,
    /// Maximum of bytes of a direction that wait behind a hole.
    pub held_bytes: usize,
    /// Maximum of segments of a direction that wait behind a hole.
    pub held_segments: usize,
    /// Maximum of bytes of all directions together that wait behind holes.
    pub held_bytes_in_total: usize,
    /// Longest time that segments wait behind a hole, by the clock of the packets.
    pub hole_patience: Duration,
    /// Longest wait for bytes that the receiver has acknowledged. They were received, so they are not retransmitted:
    /// the capture has lost them, or has them a little later.
    pub reordering_patience: Duration,
    /// Maximum of segments of a direction that wait for their acknowledgement, for round trips.
    pub timed_segments: usize,
    /// Maximum of such segments of all directions together.
    pub timed_segments_in_total: usize,
}

impl Default for Limits {
    /// Returns bounds of at most about 300 MiB, which only hostile captures need.
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

/// A resource that all connections share.
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

/// The bounds, and the use of the resources that all connections share.
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
