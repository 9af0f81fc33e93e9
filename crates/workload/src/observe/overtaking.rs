//! Settlements that overtake earlier messages, which show how many a consumer processes at the same time.

/// Number of earlier unsettled messages from which on settlements are counted together.
const EARLIER_MAX: usize = 64;
/// Share of messages settled behind a later one, from which on a consumer has several workers.
const PARALLEL_SHARE: f64 = 0.01;
/// Fewest messages settled behind a later one.
const LATE_MIN: u64 = 3;

/// Settlements by the number of earlier messages of the consumer that were unsettled then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overtaking {
    counts: Vec<u64>,
    /// Those behind that of a later message. A message that is never settled is no such one.
    late: u64,
}

/// The place of a settlement in the order of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Earlier messages that are unsettled.
    pub(super) earlier: usize,
    /// True if a later one is settled.
    pub(super) is_late: bool,
}

impl Overtaking {
    pub(super) fn add(&mut self, Order { earlier, is_late }: Order) {
        self.late += u64::from(is_late);
        let place = earlier.min(EARLIER_MAX);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// Adds the settlements of another consumer.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.late += other.late;
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// Returns the number of messages that the consumer processes at the same time. A message that overtakes three others
    /// is one of four.
    pub(crate) fn concurrency(&self) -> usize {
        let total: u64 = self.counts.iter().sum();
        let is_parallel = self.late >= LATE_MIN && self.late as f64 > PARALLEL_SHARE * total as f64;
        // The last count is positive.
        if is_parallel { self.counts.len() } else { 1 }
    }
}
