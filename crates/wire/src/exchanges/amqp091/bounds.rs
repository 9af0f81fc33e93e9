//! How long confirms took at least, where publishes have no known numbers.
//!
//! Of `n` publishes seen so far, a confirm of number `t` says that the first of them had a number above `t - n`: what was
//! published before the capture was at least that much. Counted from there, the publish with number `t` is the one on which
//! it falls, or an earlier one, so that it took at least as long. Nothing is said of the others that a confirm of several
//! settles: some of them may have been confirmed before.

use std::collections::VecDeque;

use super::super::latency::{Ending, Latency, Mark};
use crate::report::LatencyKind;

/// Publishes that are kept. For those before them the oldest stands in, which was later.
const KEPT_MAX: usize = 8_192;

/// Publishes without numbers, as they were counted since everything was seen.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    marks: VecDeque<Mark>,
    published: u64,
    highest_confirmed: u64,
    /// The most that the highest confirmed number was ahead of the count of publishes. The number of the first publish
    /// is above it.
    lead: i128,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { marks: VecDeque::new(), published: 0, highest_confirmed: 0, lead: i128::MIN }
    }
}

impl Bounds {
    /// Whether neither a publish nor a confirm was seen.
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

    /// A confirm of this number. What it took at least goes to `sink`; nothing where it is for a publish before the first
    /// one that was seen, and where its own time is not known.
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

    /// The publish with this number was not later than that.
    fn latest_begin(&self, number: u64) -> Option<Mark> {
        let place =
            u64::try_from(i128::from(number) - self.lead).ok().filter(|place| *place > 0)?;
        let dropped = self.published - self.marks.len() as u64;
        let at = usize::try_from(place.saturating_sub(dropped + 1)).ok()?;
        self.marks.get(at).copied()
    }
}
