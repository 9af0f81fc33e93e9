//! Times of the broker's answers on a connection: confirms and deliveries.

use std::collections::VecDeque;

/// Number of answers that are kept.
const ROOM: usize = 64;

/// The last answers, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(VecDeque<u64>);

impl Answers {
    pub(super) fn add(&mut self, nanos: u64) {
        if self.0.len() >= ROOM {
            self.0.pop_front();
        }
        // Clocks may be set back.
        let nanos = self.0.back().map_or(nanos, |last| nanos.max(*last));
        self.0.push_back(nanos);
    }

    /// Returns the time at `nanos` since the answer before; none without one.
    pub(super) fn since_last(&self, nanos: u64) -> Option<u64> {
        let before = self.0.partition_point(|answer| *answer <= nanos);
        let last = self.0.get(before.checked_sub(1)?)?;
        Some(nanos.saturating_sub(*last))
    }
}
