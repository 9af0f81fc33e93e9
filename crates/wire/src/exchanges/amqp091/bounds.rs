//! Lower bounds of confirm latencies, if the numbers of publishes are unknown.
//!
//! After `n` seen publishes, a confirm of number `t` proves that the first of them had a number above `t - n`. So at
//! least that many were published before the capture. Counted from that bound, the confirmed publish is the one with
//! number `t`, or an earlier one, so it took at least as long. A confirm of several says nothing about the others,
//! because some of them may have been confirmed before.

use std::collections::VecDeque;

use super::super::latency::{Ending, Latency, Mark};
use crate::report::LatencyKind;

/// Maximum of publishes that are kept. For older ones the oldest kept one, which is later, stands in.
const KEPT_MAX: usize = 8_192;

/// Publishes without numbers, counted since the last point from which all frames were seen.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    marks: VecDeque<Mark>,
    published: u64,
    highest_confirmed: u64,
    /// Largest lead of the highest confirmed number over the count of publishes. The number of the first publish is
    /// above it.
    lead: i128,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { marks: VecDeque::new(), published: 0, highest_confirmed: 0, lead: i128::MIN }
    }
}

impl Bounds {
    /// Returns whether neither a publish nor a confirm was seen.
    pub(super) const fn is_empty(&self) -> bool {
        self.published == 0 && self.highest_confirmed == 0
    }

    pub(super) fn publish(&mut self, mark: Mark) {
        self.published += 1;
        if self.marks.len() >= KEPT_MAX {
            self.marks.pop_front();
        }
        self.marks.push_back(mark);
    }

    /// Records a confirm of this number. Its lower bound goes to `sink`, unless it is for a publish before the first
    /// seen one, or its own time is unknown.
    pub(super) fn confirm(
        &mut self,
        tag: u64,
        ending: Option<&Ending>,
        sink: &mut impl FnMut(&Latency),
    ) {
        if tag == 0 {
            return;
        }
        self.highest_confirmed = self.highest_confirmed.max(tag);
        let ahead = i128::from(self.highest_confirmed) - i128::from(self.published);
        self.lead = self.lead.max(ahead);
        let begin = self.latest_begin(tag);
        if let (Some(mark), Some(ending)) = (begin, ending) {
            sink(&ending.of_kind(LatencyKind::PublishToConfirmAtLeast).since(mark));
        }
    }

    /// Returns the latest publish that may have this number.
    fn latest_begin(&self, number: u64) -> Option<Mark> {
        let place =
            u64::try_from(i128::from(number) - self.lead).ok().filter(|place| *place > 0)?;
        let dropped = self.published - self.marks.len() as u64;
        let at = usize::try_from(place.saturating_sub(dropped + 1)).ok()?;
        self.marks.get(at).copied()
    }
}
