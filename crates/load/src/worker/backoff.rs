//! How soon a lost connection is made again.

use crate::clock::SECOND;

/// A connection that was up for so long was a good one: the next loss starts with a short delay.
const GOOD_NANOS: u64 = 10 * SECOND;

/// How well a link has held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    /// Nanoseconds since the run began.
    pub(super) up_since: u64,
    /// How often in a row it was lost soon after it was made.
    short_lives: u32,
}

impl Backoff {
    /// How many attempts the next one counts as having failed.
    pub(super) fn lost(&mut self, now: u64) -> u32 {
        let was_good = self.up_since == 0 || now >= self.up_since + GOOD_NANOS;
        self.short_lives = if was_good { 0 } else { self.short_lives.saturating_add(1) };
        self.short_lives
    }
}
