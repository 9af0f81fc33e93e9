//! How soon a lost connection is made again.

use crate::clock::{Nanos, RunInstant};

/// A connection that was up for this time was stable: after it is lost, the first delay is the
/// shortest. Chosen.
const STABLE_TIME: Nanos = Nanos::from_micros(10_000_000);

/// The lifetimes of a link's connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    pub(super) up_since: RunInstant,
    /// Connections in a row that were not stable.
    short_lives: u32,
}

impl Backoff {
    /// The connection is lost. Returns the number of failed attempts with which the next delay is
    /// computed.
    pub(super) fn lost(&mut self, now: RunInstant) -> u32 {
        let was_good = self.up_since == RunInstant::START || now >= self.up_since + STABLE_TIME;
        self.short_lives = if was_good { 0 } else { self.short_lives.saturating_add(1) };
        self.short_lives
    }
}
