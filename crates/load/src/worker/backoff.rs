//! The delay before a lost connection is replaced.

use rabbitscope_timing::{Nanos, RunInstant};

/// Lifetime from which a connection counts as stable. After its loss the first delay is the shortest. Chosen.
const STABLE_TIME: Nanos = Nanos::from_micros(10_000_000);

/// The lifetimes of a link's connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    pub(super) up_since: RunInstant,
    /// Number of connections in a row that were not stable.
    short_lives: u32,
}

impl Backoff {
    /// Notes the loss of the connection. Returns the number of failed attempts from which the next delay is computed.
    pub(super) fn lost(&mut self, now: RunInstant) -> u32 {
        let was_good = self.up_since == RunInstant::START || now >= self.up_since + STABLE_TIME;
        self.short_lives = if was_good { 0 } else { self.short_lives.saturating_add(1) };
        self.short_lives
    }
}
